//! Names in C#.

use expect_test::expect;
use syntax::Language::CSharp;
use syntax::{ModuleLocation, Projects};

use crate::names;

#[test]
fn types_with_members() {
    names::check_outline(
        CSharp,
        r#"
namespace Acme.Shapes;

// Not this one.

/// <summary>
/// A <see cref="Polygon"/> with <b>four</b> sides. More of it
/// is below.
/// </summary>
/// <typeparam name="T">What it holds.</typeparam>
[Serializable, Old("x[0]")]
public abstract partial class Square<T> : Base<T>, IShape, System.IDisposable where T : Side
{
    private static readonly Dictionary<string, List<T>> Sides = new(), Others; // of all
    protected int width;
    const int Max = 4;
    public event EventHandler<T>? Changed;

    internal Square([Named] T side, params string[] names) : base(side) { int Local() => 1; }
    static Square() {}
    ~Square() {}

    /// <summary>The <paramref name="index"/>th one</summary>
    [Pure] public override T? Get<U>(ref int index, U[] other = null) where U : class => default;
    void IShape.Draw() { }
    private protected int Hidden() => 1;

    public string Name { get; private set; } = "";
    public int Area => width * width;
    public T this[int index] { get { return null; } }
    public static Square<T> operator +(Square<T> a, Square<T> b) => a;

    class Inner { public Inner Next; }
}
"#,
        expect![[r#"
            type Square < Base<T>, IShape, System.IDisposable in Acme.Shapes | public abstract partial class Square<T> : Base<T>, IShape, System.IDisposable where T : Side | A Polygon with four sides
            field Square.Sides: Dictionary<string, List<T>> [private] [static] in Acme.Shapes | private static readonly Dictionary<string, List<T>> Sides
            field Square.Others: Dictionary<string, List<T>> [private] [static] in Acme.Shapes | private static readonly Dictionary<string, List<T>> Others
            field Square.width: int in Acme.Shapes | protected int width
            field Square.Max: int [private] [static] in Acme.Shapes | const int Max
            field Square.Changed: EventHandler<T>? in Acme.Shapes | public event EventHandler<T>? Changed
            constructor Square.Square(side: T, names: string[]) in Acme.Shapes | internal Square(T side, params string[] names) : base(side)
            method Square.Get(index: int, other: U[]): T? in Acme.Shapes | public override T? Get<U>(ref int index, U[] other = null) where U : class | The indexth one
            method Square.Draw(): void [private] in Acme.Shapes | void IShape.Draw()
            method Square.Hidden(): int in Acme.Shapes | private protected int Hidden()
            field Square.Name: string in Acme.Shapes | public string Name
            field Square.Area: int in Acme.Shapes | public int Area
            field Square.this(index: int): T in Acme.Shapes | public T this[int index]
            type Square.Inner [private] [static] in Acme.Shapes | class Inner
            field Square.Inner.Next: Inner in Acme.Shapes | public Inner Next
            namespace Acme.Shapes
        "#]],
    );
}

#[test]
fn interfaces_enums_and_records() {
    names::check_outline(
        CSharp,
        r#"
class Outside {}
namespace A {
    namespace B.C {
        interface IShape<in T> : ICloneable { double Area(); string Name { get; } }
        /// <summary>Colours.</summary>
        enum Color : byte {
            [Old] Red = 1,
            /// <summary>Like the sky.</summary>
            Blue
        }
        public record struct Point(int X, [Must] Foo<int> Y) : IShape<Point>;
        record Named(string Name) : Base(Name) { public int Length => Name.Length; }
        class Service(ILogger log, params int[] rest) : Base(log) { }
        public delegate Task Handler(Request request);
    }
    struct After { int X, Y; }
}
#if NET
class Conditional { }
#else
class Otherwise { }
#endif
"#,
        expect![[r#"
            type Outside | class Outside
            type IShape < ICloneable in A.B.C | interface IShape<in T> : ICloneable
            method IShape.Area(): double in A.B.C | double Area()
            field IShape.Name: string in A.B.C | string Name
            type Color in A.B.C | enum Color : byte | Colours
            field Color.Red: Color [static] in A.B.C | Red
            field Color.Blue: Color [static] in A.B.C | Blue | Like the sky
            type Point < IShape<Point> in A.B.C | public record struct Point(int X, Foo<int> Y) : IShape<Point>
            field Point.X: int in A.B.C | int X
            field Point.Y: Foo<int> in A.B.C | Foo<int> Y
            type Named < Base in A.B.C | record Named(string Name) : Base(Name)
            field Named.Name: string in A.B.C | string Name
            field Named.Length: int in A.B.C | public int Length
            type Service < Base in A.B.C | class Service(ILogger log, params int[] rest) : Base(log)
            field Service.log: ILogger [private] in A.B.C | ILogger log
            type Handler(request: Request) in A.B.C | public delegate Task Handler(Request request)
            type After in A | struct After
            field After.X: int [private] in A | int X
            field After.Y: int [private] in A | int Y
            type Conditional | class Conditional
            type Otherwise | class Otherwise
            namespace A
            namespace A.B.C
        "#]],
    );
}

#[test]
fn extension_methods() {
    names::check_outline(
        CSharp,
        "static class E {\n  public static T First<T>(this IList<T> list, int from) => list[0];\n  static void Do(this ref Foo foo) {}\n}\n",
        expect![[r#"
            type E | static class E
            method E.IList<T>::First(from: int): T [static] | public static T First<T>(this IList<T> list, int from)
            method E.Foo::Do(): void [private] [static] | static void Do(this ref Foo foo)
        "#]],
    );
}

#[test]
fn imports() {
    names::check_outline(
        CSharp,
        "global using System.Text;\nusing A.B;\nusing static A.B.Type;\nusing Map = A.B.Dictionary<string, int>;\nusing G = global::A.Type;\nusing Short = Type;\n",
        expect![[r#"
            import all of System.Text as * [global]
            import all of A.B as *
            import all of A.B.Type as *
            import Dictionary of A.B as Map
            import Type of A as G
            import Type of this file as Short
        "#]],
    );
}

#[test]
fn broken_code_keeps_complete_definitions() {
    names::check_outline(
        CSharp,
        "namespace N { class A { Foo y; void F() { if ( } B G(C c) { x. } class D { int z; ",
        expect![[r#"
            field y: Foo | Foo y
            method F(): void | void F()
            method G(c: C): B | B G(C c)
            field z: int | int z
        "#]],
    );
}

#[test]
fn locals() {
    names::check_scope(
        CSharp,
        r#"
class A(Primary primary) {
    Field field;
    void Other(Closed closed) { Closed gone; }
    async Task Run(Param param, ref Other other, params Rest[] rest) {
        Typed typed = null, second;
        var made = new Made<string>(1);
        var called = (await factory.Make()).Build();
        foreach (Item item in items) {}
        foreach (var each in this.All()) {}
        using var file = Open();
        using (Reader reader = null) {}
        try {} catch (IoError error) {}
        Consume((Left left, Right right) => left, plain => plain.X);
        if (param is Special special && param is { } braces && param is Pair { First: 1 } pair) {}
        switch (param) { case Circle circle: break; }
        if (TryGet(out Found found, out var unknown)) {}
        (One one, Two two) = both;
        for (Index index = 0;;) {}
        var query = from row in rows let key = row.Key select key;
        ty$0
    }
    void Later(Later later) {}
}
"#,
        expect![[r#"
            enclosing Run < A
            param = :Param
            other = :Other
            rest = :Rest[]
            typed = :Typed
            second = :Typed
            made = :Made<string>
            called = factory.Make().Build()
            item = :Item
            each = this.All()[]
            file = Open()
            reader = :Reader
            error = :IoError
            left = :Left
            right = :Right
            plain = ()
            special = :Special
            braces = ()
            pair = :Pair
            circle = :Circle
            found = :Found
            unknown = ()
            one = :One
            two = :Two
            index = :Index
            query = ()
            row = rows[]
            key = row.Key
            trailing ty
        "#]],
    );
}

#[test]
fn receivers_of_expressions() {
    let receiver = |expression: &str| -> String {
        let fixture = format!("class A {{ void F() {{ G({expression}.$0");
        names::scope(CSharp, &fixture).lines().skip(1).map(|line| format!("{expression}: {line}\n")).collect()
    };
    let expressions = [
        "name",
        "this",
        "base",
        "(this)",
        "this.field.Other",
        "Type.Of(1).With<int>(a, b)",
        "Call<T>()",
        "a?.B",
        "a?.B()?[0]",
        "a!",
        "new Type<int>(1) { X = 1 }",
        "((Type<A>) x)",
        "(x as Type)",
        "(await x.Load())",
        "list[0]",
        "(a ? b : c.D)",
        "(a ?? b)",
        "(x = y)",
        "$\"text{x}\"",
        "string",
        "new Type[2]",
        "default(Type)",
        "global::A.Type",
        "(x with { Y = 1 })",
        "(x switch { 1 => a, _ => b.C() })",
    ];
    let found: String = expressions.map(receiver).into_iter().collect();
    expect![[r#"
        name: receiver name
        this: receiver this
        base: receiver super
        (this): receiver this
        this.field.Other: receiver this.field.Other
        Type.Of(1).With<int>(a, b): receiver Type.Of().With()
        Call<T>(): receiver Call()
        a?.B: receiver a.B
        a?.B()?[0]: receiver a.B()[]
        a!: receiver a
        new Type<int>(1) { X = 1 }: receiver :Type<int>
        ((Type<A>) x): receiver :Type<A>
        (x as Type): receiver :Type
        (await x.Load()): receiver x.Load()
        list[0]: receiver list[]
        (a ? b : c.D): receiver (b | c.D)
        (a ?? b): receiver (a | b)
        (x = y): receiver y
        $"text{x}": receiver :string
        string: receiver string
        new Type[2]: receiver :Type[]
        default(Type): receiver :Type
        global::A.Type: receiver A.Type
        (x with { Y = 1 }): receiver x
        (x switch { 1 => a, _ => b.C() }): receiver (a | b.C())
    "#]]
    .assert_eq(&found);
}

#[test]
fn receivers_of_incomplete_members() {
    let cases = [
        "class A { void F() { name.Me$0",
        "class A { void F() { return name.$0",
        "class A { void F() { if (name?.$0",
        "class A { void F() { name?.Me$0",
        "class A { void F() { foreach (var x in name.$0",
        "class A { void F() { Type one = new Outer.In$0",
        "class A { void F() { builder\n.One()\n.Two(x => {\n  x.$0",
        "class A { Type Field => Type.$0",
        "class A { void F() { Outer.In$0",
        "class A { void F() { var x = $\"{name.$0",
        "class A { void F() { Type x = new() { Na$0",
        "class A { void F() { Use(new Type<int> { First = 1, $0",
        "class A { void F() { Use(new Type<int> {\n First = 1,\n Se$0",
        "class A { void F() { name$0",
        "class A { void F() { Call(name$0",
        "class A { void F() { $0",
        "namespace N; $0",
    ];
    let scope = |fixture: &str| format!("{fixture:?}\n{}", names::scope(CSharp, fixture));
    let found: String = cases.map(scope).into_iter().collect();
    expect![[r#"
        "class A { void F() { name.Me$0"
        enclosing F < A
        receiver name
        "class A { void F() { return name.$0"
        enclosing F < A
        receiver name
        "class A { void F() { if (name?.$0"
        enclosing F < A
        receiver name
        "class A { void F() { name?.Me$0"
        enclosing F < A
        receiver name
        "class A { void F() { foreach (var x in name.$0"
        enclosing F < A
        x = name.__ghost__[]
        receiver name
        "class A { void F() { Type one = new Outer.In$0"
        enclosing F < A
        one = :Type
        receiver Outer
        "class A { void F() { builder\n.One()\n.Two(x => {\n  x.$0"
        enclosing F < A
        x = ()
        receiver x
        "class A { Type Field => Type.$0"
        enclosing Field < A
        receiver Type
        "class A { void F() { Outer.In$0"
        enclosing F < A
        receiver Outer
        "class A { void F() { var x = $\"{name.$0"
        enclosing 
        receiver name
        "class A { void F() { Type x = new() { Na$0"
        enclosing F < A
        x = :Type
        receiver :Type
        "class A { void F() { Use(new Type<int> { First = 1, $0"
        enclosing F < A
        receiver :Type<int>
        "class A { void F() { Use(new Type<int> {\n First = 1,\n Se$0"
        enclosing F < A
        receiver :Type<int>
        "class A { void F() { name$0"
        enclosing F < A
        trailing name
        "class A { void F() { Call(name$0"
        enclosing F < A
        trailing name
        "class A { void F() { $0"
        enclosing F < A
        "namespace N; $0"
        enclosing 
    "#]]
    .assert_eq(&found);
}

#[test]
fn uses() {
    names::check_uses(
        CSharp,
        r#"
using A.B;
namespace Acme.Deep {
[Marker(Value = Consts.Name), A.Other]
class A<T> : Base<Argument>, I where T : Bound {
    const int Size = Limits.Max + Other;
    Field<Deep[]> field;
    Property Name { get; } = new() { Inside = 1 };
    A(Param param) : base(param) { Call(param.Member); }
    async Task<Result> Run() {
        Local local = new Made<Of>(1) { First = 1, Second = { Third = 2 } };
        var inner = new Outer.Inner();
        Helper.Help(local?.Count).Then<Generic>(typeof(Literal));
        this.field.Sub.Go();
        ((Cast) local).Go();
        switch (local) { case Color.Red: break; case Shape shape: break; }
        return x is Checked ? (x as Wanted).A : nameof(Named) + local with { Changed = 1 };
    }
}
}
"#,
        expect![[r#"
            Marker
            Consts
            Consts.Name
            A
            A.Other
            Base
            Argument
            I
            T
            Bound
            Limits
            Limits.Max
            Other
            Field
            Deep
            Property
            :Property.Inside
            Param
            Call
            param.Member
            Task
            Result
            Local
            new Made
            Of
            :Made<Of>.First
            :Made<Of>.Second
            Third
            Outer
            new Inner
            Helper
            Helper.Help
            local.Count
            Helper.Help().Then
            Generic
            Literal
            this.field
            this.field.Sub
            this.field.Sub.Go
            Cast
            :Cast.Go
            Color
            Color.Red
            Shape
            Checked
            Wanted
            :Wanted.A
            nameof
            Named
            local.Changed
        "#]],
    );
}

#[test]
fn import_and_implicit_targets_are_namespaces() {
    let targets = |places: &[&str]| -> Vec<_> {
        places.iter().map(|place| ModuleLocation::Namespace((*place).into()).into()).collect()
    };
    assert_eq!(CSharp.import_targets("src/B.cs", "X.Y", &Projects::default()), targets(&["X.Y"]));
    assert_eq!(CSharp.implicit_targets("src/B.cs", "A.B.C"), targets(&["A.B.C", "A.B", "A", ""]));
    assert_eq!(CSharp.implicit_targets("src/B.cs", ""), targets(&[""]));
}

#[test]
fn deep_chains_and_nesting_do_not_overflow_the_stack() {
    for (opener, closer) in
        [("a.B().", "C();"), ("a?.B().", "C();"), ("(a ? b : ", "c"), ("new A { B = ", "C")]
    {
        let text = format!("class A {{ void F() {{ x = {}", opener.repeat(1_000)) + closer;
        names::assert_names(CSharp, &text);
    }
}

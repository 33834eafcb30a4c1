//! Names in Java.

use expect_test::expect;
use syntax::Language::Java;
use syntax::{ModuleLocation, Projects};

use crate::names;

#[test]
fn types_with_members() {
    names::check_outline(
        Java,
        r#"
package com.example.shapes;

/** Not this one. */

/**
 * A {@link Polygon polygon} with <b>four</b> sides. More of it
 * is below.
 *
 * @param <T> what it holds
 */
@Deprecated(since = "1")
public abstract class Square<T extends Side> extends Base<T> implements Shape, java.io.Closeable {
    private static final Map<String, List<T>> SIDES = new HashMap<>(); // of all
    protected int width = 1, heights[];

    @Inject Square(@Named("a") final T side, String... names) throws E {
        class Local { int x; }
        this.width = 1;
    }

    /** {@inheritDoc} */
    @Override
    public <U> U[] sides(List<? super U> into, int[] counts) { return null; }

    private static int count() { return 0; }

    abstract T one() ;

    static class Inner { Inner inner; }
}
"#,
        expect![[r#"
            type Square < Base<T>, Shape, java.io.Closeable in com.example.shapes | public abstract class Square<T extends Side> extends Base<T> implements Shape, java.io.Closeable | A Polygon polygon with four sides
            field Square.SIDES: Map<String, List<T>> [private] [static] in com.example.shapes | private static final Map<String, List<T>> SIDES
            field Square.width: int in com.example.shapes | protected int width
            field Square.heights: int[] in com.example.shapes | protected int heights
            constructor Square.Square(side: T, names: String...) in com.example.shapes | Square(final T side, String... names) throws E
            method Square.sides(into: List<? super U>, counts: int[]): U[] in com.example.shapes | public <U> U[] sides(List<? super U> into, int[] counts)
            method Square.count(): int [private] [static] in com.example.shapes | private static int count()
            method Square.one(): T in com.example.shapes | abstract T one()
            type Square.Inner [static] in com.example.shapes | static class Inner
            field Square.Inner.inner: Inner in com.example.shapes | Inner inner
            namespace com.example.shapes
        "#]],
    );
}

#[test]
fn interfaces_enums_records_and_annotations() {
    names::check_outline(
        Java,
        r#"
interface Shape extends Comparable<Shape>, Cloneable {
    int SIDES = 4;
    default double area() { return 0; }
    sealed interface Round permits Circle {}
}
enum Color implements Named {
    /** Like blood. */
    RED("r"),
    @Old GREEN { String named() { return "g"; } };
    private final String sign = "";
    Color(String sign) {}
}
record Point<N>(@NotNull N x, N... rest) implements Shape {
    Point { check(x); }
    static Point<Integer> origin() { return null; }
}
@interface Marker {
    String value() default "";
}
"#,
        expect![[r#"
            type Shape < Comparable<Shape>, Cloneable | interface Shape extends Comparable<Shape>, Cloneable
            field Shape.SIDES: int [static] | int SIDES
            method Shape.area(): double | default double area()
            type Shape.Round [static] | sealed interface Round permits Circle
            type Color < Named | enum Color implements Named
            field Color.RED: Color [static] | RED("r") | Like blood
            field Color.GREEN: Color [static] | GREEN
            field Color.sign: String [private] | private final String sign
            constructor Color.Color(sign: String) | Color(String sign)
            type Point < Shape | record Point<N>(N x, N... rest) implements Shape
            field Point.x: N [private] | N x
            method Point.x(): N | N x()
            constructor Point.Point() | Point
            method Point.origin(): Point<Integer> [static] | static Point<Integer> origin()
            type Marker | @interface Marker
            method Marker.value(): String | String value() default ""
        "#]],
    );
}

#[test]
fn imports() {
    names::check_outline(
        Java,
        "import a.b.C;\nimport a.b.*;\nimport static a.b.C.make;\nimport static a.b.C.*;\nimport Single;\n",
        expect![[r#"
            import C of a.b as C
            import all of a.b as *
            import make of a.b.C as make
            import all of a.b.C as *
        "#]],
    );
}

#[test]
fn broken_code_keeps_complete_definitions() {
    names::check_outline(
        Java,
        "class A { int x( ; Foo y; void f() { if ( } class { int z; } B g(C c) {",
        expect![[r#"
            type A | class A
            field A.x: int | int x
            field A.y: Foo | Foo y
            method A.f(): void | void f()
            method A.g(c: C): B | B g(C c)
        "#]],
    );
}

#[test]
fn locals() {
    names::check_scope(
        Java,
        r#"
class A {
    Field field;
    void other(Closed closed) { Closed gone; }
    void run(final Param param, Rest... rest) {
        Typed typed = null, array[] = {};
        var made = new Made<String>(1);
        var called = factory.make().build();
        for (Item item : items) {}
        for (var each : this.all()) {}
        try (Reader reader = open(); var writer = field.open()) {}
        catch (IoError | OtherError error) {}
        consume((Left left, Right right) -> left);
        if (param instanceof Special special && param instanceof Pair(First first, var second)) {}
        switch (param) { case Circle circle -> {} }
        ty$0
    }
    void later(Later later) {}
}
"#,
        expect![[r#"
            enclosing run < A
            param = :Param
            rest = :Rest[]
            typed = :Typed
            array = :Typed[]
            made = :Made<String>
            called = factory.make().build()
            item = :Item
            each = this.all()[]
            reader = :Reader
            writer = field.open()
            error = (:IoError | :OtherError)
            left = :Left
            right = :Right
            special = :Special
            first = :First
            second = ()
            circle = :Circle
            trailing ty
        "#]],
    );
}

#[test]
fn receivers_of_expressions() {
    let receiver = |expression: &str| -> String {
        let fixture = format!("class A {{ void f() {{ g({expression}.$0");
        names::scope(Java, &fixture).lines().skip(1).map(|line| format!("{expression}: {line}\n")).collect()
    };
    let expressions = [
        "name",
        "this",
        "super",
        "Outer.this",
        "Outer.super",
        "this.field.other",
        "Type.of(1).with(a, b)",
        "call()",
        "new Type<>(1)",
        "new a.b.Type() {}",
        "((Type<A>) x)",
        "list[0]",
        "(a ? b : c.d)",
        "(x = y)",
        "\"text\"",
        "Type.class",
        "new Type[2]",
        "(switch (x) { case 1 -> a; default -> b.c(); })",
    ];
    let found: String = expressions.map(receiver).into_iter().collect();
    expect![[r#"
        name: receiver name
        this: receiver this
        super: receiver super
        Outer.this: receiver :Outer
        Outer.super: receiver :Outer
        this.field.other: receiver this.field.other
        Type.of(1).with(a, b): receiver Type.of().with()
        call(): receiver call()
        new Type<>(1): receiver :Type<>
        new a.b.Type() {}: receiver :a.b.Type
        ((Type<A>) x): receiver :Type<A>
        list[0]: receiver list[]
        (a ? b : c.d): receiver (b | c.d)
        (x = y): receiver y
        "text": receiver :String
        Type.class: receiver :Class
        new Type[2]: receiver :Type[]
        (switch (x) { case 1 -> a; default -> b.c(); }): receiver (a | b.c())
    "#]]
    .assert_eq(&found);
}

#[test]
fn receivers_of_incomplete_members() {
    let cases = [
        "class A { void f() { name.me$0",
        "class A { void f() { return name.$0",
        "class A { void f() { if (name.$0",
        "class A { void f() { map(Type::$0",
        "class A { void f() { map(Type::ne$0",
        "class A { void f() { Type one = new Outer.In$0",
        "class A { void f() { builder\n.one()\n.two(x -> {\n  x.$0",
        "class A { Type field = Type.$0",
        "class A { void f() { Outer.In$0",
        "class A { void f() { name$0",
        "class A { void f() { call(name$0",
        "class A { void f() { $0",
        "$0",
    ];
    let scope = |fixture: &str| format!("{fixture:?}\n{}", names::scope(Java, fixture));
    let found: String = cases.map(scope).into_iter().collect();
    expect![[r#"
        "class A { void f() { name.me$0"
        enclosing f < A
        receiver name
        "class A { void f() { return name.$0"
        enclosing f < A
        receiver name
        "class A { void f() { if (name.$0"
        enclosing f < A
        receiver name
        "class A { void f() { map(Type::$0"
        enclosing f < A
        receiver Type
        "class A { void f() { map(Type::ne$0"
        enclosing f < A
        receiver Type
        "class A { void f() { Type one = new Outer.In$0"
        enclosing f < A
        one = :Type
        receiver Outer
        "class A { void f() { builder\n.one()\n.two(x -> {\n  x.$0"
        enclosing f < A
        x = ()
        receiver x
        "class A { Type field = Type.$0"
        enclosing field < A
        receiver Type
        "class A { void f() { Outer.In$0"
        enclosing f < A
        receiver Outer
        "class A { void f() { name$0"
        enclosing f < A
        trailing name
        "class A { void f() { call(name$0"
        enclosing f < A
        trailing name
        "class A { void f() { $0"
        enclosing f < A
        "$0"
        enclosing 
    "#]]
    .assert_eq(&found);
}

#[test]
fn uses() {
    names::check_uses(
        Java,
        r#"
package a.B;
import a.b.C;
@Marker(value = Consts.NAME) @a.Other
class A<T extends Bound> extends Base<Argument> {
    static final int SIZE = Limits.MAX + OTHER;
    Field<Deep[]> field;
    A(Param param) { super(param); call(param.member); }
    Result run() throws Failure {
        Local local = new Made<Of>(1);
        var inner = new Outer.Inner();
        Helper.help(local.count).then(Type::make);
        this.field.sub.go();
        ((Cast) local).go();
        switch (local) { case RED: break; }
        return x instanceof Checked ? SELF.a : Outer.Nested.go(int[].class, Literal.class);
    }
}
"#,
        expect![[r#"
            Marker
            Consts
            Consts.NAME
            a.Other
            T
            Bound
            Base
            Argument
            Limits
            Limits.MAX
            OTHER
            Field
            Deep
            Param
            call
            param.member
            Result
            Failure
            Local
            new Made
            Of
            Outer
            new Inner
            Helper
            Helper.help
            local.count
            Helper.help().then
            Type
            Type.make
            this.field
            this.field.sub
            this.field.sub.go
            Cast
            :Cast.go
            RED
            Checked
            SELF
            SELF.a
            Outer
            Outer.Nested
            Outer.Nested.go
            Literal
        "#]],
    );
}

#[test]
fn import_and_implicit_targets_are_packages() {
    let target = |place: &str| vec![ModuleLocation::Namespace(place.into()).into()];
    assert_eq!(Java.import_targets("src/a/B.java", "x.y.Type", &Projects::default()), target("x.y.Type"));
    assert_eq!(Java.implicit_targets("src/a/B.java", "a"), target("a"));
}

#[test]
fn deep_chains_and_nesting_do_not_overflow_the_stack() {
    for (opener, closer) in [("a.b().", "c();"), ("(a ? b : ", "c"), ("new A<", "B")] {
        names::assert_names(Java, &(format!("class A {{ void f() {{ x = {}", opener.repeat(1_000)) + closer));
    }
}

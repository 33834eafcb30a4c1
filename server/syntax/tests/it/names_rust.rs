//! Names in Rust.

use expect_test::expect;
use syntax::Language::Rust;
use syntax::{Manifest, Projects};

use crate::names;

/// Uses most constructs of the language that are relevant for names.
const SHAPES: &str = r#"//! Shapes.
use std::fmt;

/// A shape. With
/// more than one sentence.
///
/// And a second part.
#[derive(Debug, Clone)]
#[cfg(all(
    unix,
))]
pub struct Circle<T: Copy> where T: Into<f64> {
    /// In pixels.
    pub radius: T,
    center: Point,
}

struct Point(f64, pub f64);

pub(crate) enum Shape {
    /// Round.
    Round(Circle<f64>),
    Named { name: String },
    Empty = 3,
}

pub union Bits { whole: u64, halves: [u32; 2] }

pub trait Area: fmt::Debug + Send + 'static {
    type Unit: Copy;
    const SIDES: usize = 0;
    /// The area.
    fn area(&self) -> Self::Unit;
    fn named(name: &str) -> Self where Self: Sized { let x = 1; fn local() {} }
}

impl<T: Copy> Circle<T> {
    pub const UNIT: Circle<u8> = Circle { radius: 1 };
    #[inline]
    pub fn new(radius: T, (x, y): (f64, f64)) -> Self { use crate::geometry::origin; Circle { radius } }
    fn grow(self: Box<Self>, by: impl Into<T>) -> Option<Arc<Self>> { None }
}

impl<T> Area for Circle<T> {
    type Unit = f64;
    fn area(&self) -> f64 { 0.0 }
}

impl<T: Area> fmt::Display for T {}
impl From<&str> for geometry::Point {}

type Shapes = Vec<Shape>;
pub static COUNT: AtomicUsize = AtomicUsize::new(0);
pub const fn zero() -> usize { 0 }
/// Makes one.
#[macro_export]
macro_rules! shape { () => {}; }
extern "C" { pub fn draw(shape: *const Shape) -> c_int; }

mod inner {
    pub(super) fn helper() {}
    pub mod deep { pub struct Deep; }
}

cfg_io! {
    pub mod fs;
    /// Reads.
    pub fn read() -> Bytes { 0 }
    cfg_net! { impl Deep { pub fn bind(&self) {} } }
}
thread_local!(static NONE: u8 = 1);
"#;

#[test]
fn definitions() {
    names::check_outline(
        Rust,
        SHAPES,
        expect![[r#"
            type Circle | pub struct Circle<T: Copy> where T: Into<f64> | A shape
            field Circle.radius: T | pub radius: T | In pixels
            field Circle.center: Point [private] | center: Point
            type Point [private] | struct Point(f64, pub f64)
            type Shape | pub(crate) enum Shape
            field Shape.Round: Shape [static] | Round(Circle<f64>) | Round
            field Shape.Named: Shape [static] | Named { name: String }
            field Shape.Empty: Shape [static] | Empty
            type Bits | pub union Bits
            field Bits.whole: u64 [private] | whole: u64
            field Bits.halves: [u32; 2] [private] | halves: [u32; 2]
            type Area < fmt::Debug, Send | pub trait Area: fmt::Debug + Send + 'static
            type Area.Unit < Copy | type Unit: Copy
            field Area.SIDES: usize [static] | const SIDES: usize
            method Area.area(): Self::Unit | fn area(&self) -> Self::Unit | The area
            method Area.named(name: &str): Self [static] | fn named(name: &str) -> Self where Self: Sized
            field Circle::UNIT: Circle<u8> [static] | pub const UNIT: Circle<u8>
            method Circle::new(radius: T, (x, y): (f64, f64)): Self [static] | pub fn new(radius: T, (x, y): (f64, f64)) -> Self
            method Circle::grow(by: impl Into<T>): Option<Arc<Self>> [private] | fn grow(self: Box<Self>, by: impl Into<T>) -> Option<Arc<Self>>
            type Circle::Unit: f64 | type Unit = f64
            method Circle::area(): f64 | fn area(&self) -> f64
            type Shapes: Vec<Shape> [private] | type Shapes = Vec<Shape>
            constant COUNT: AtomicUsize | pub static COUNT: AtomicUsize
            function zero(): usize | pub const fn zero() -> usize
            function shape() | macro_rules! shape | Makes one
            function draw(shape: *const Shape): c_int | pub fn draw(shape: *const Shape) -> c_int
            module inner [private] | mod inner
            function inner.helper() | pub(super) fn helper()
            module inner.deep | pub mod deep
            type inner.deep.Deep | pub struct Deep
            function read(): Bytes | pub fn read() -> Bytes | Reads
            method Deep::bind() | pub fn bind(&self)
            import fmt of std as fmt
            import origin of crate.geometry as origin
            import self.fs as fs [reexport]
            extension Circle < Area
            extension geometry::Point < From<&str>
        "#]],
    );
}

#[test]
fn imports() {
    names::check_outline(
        Rust,
        r#"
use a;
pub use crate::b::c::D;
use super::{e, self as parent, f::{self, G as H, *}};
use std::{io::{self}, fmt::Write as _};
use self::i::*;
extern crate alloc as heap;
mod j;
pub mod k;
mod tests {
    use super::*;
    use super::super::l;
    use self::m::n;
    mod o;
    mod p { use super::{super::q, r}; use crate::s; }
}
fn f() { use t::u; }
"#,
        expect![[r#"
            module tests [private] | mod tests
            module tests.p [private] | mod p
            function f() [private] | fn f()
            import a as a
            import D of crate.b.c as D [reexport]
            import e of super as e
            import super as parent
            import f of super as f
            import G of super.f as H
            import all of super.f as *
            import io of std as io
            import all of self.i as *
            import alloc as heap
            import self.j as j
            import self.k as k [reexport]
            import all of self as *
            import l of super as l
            import n of self.tests.m as n
            import self.tests.o as o
            import q of self as q
            import r of self.tests as r
            import s of crate as s
            import u of t as u
        "#]],
    );
}

#[test]
fn scopes() {
    names::check_scope(
        Rust,
        r#"
impl Server {
    fn other(&self, hidden: Hidden) { let hidden = 1; }
    async fn run(&mut self, addr: &SocketAddr, Config { port, host: name }: Config) -> Result<()> {
        let listener = TcpListener::bind(addr).await?;
        let mut pool: Pool<Conn> = Pool::new();
        let state = self.state.lock().unwrap();
        let (tx, rx) = mpsc::channel::<Event>(16);
        let shared = Arc::new(Shared { id: 1 });
        let size = if fast { Size::small() } else { &self.size };
        let first = pool.conns[0] as Conn;
        let kind = match addr { A => Kind::of(1), B => other };
        for conn in pool.conns.iter() {
            if let Some(peer) = conn.peer() {
                match self.routes.get(peer) {
                    Ok(Route { target, .. }) | Err(target) => {}
                    found @ Some(_) => pool.map(|one| one.$0
"#,
        expect![[r#"
            enclosing run
            addr = :&SocketAddr
            port = :Config.port
            name = :Config.host
            listener = TcpListener.bind()
            pool = :Pool<Conn>
            state = this.state
            tx = mpsc.channel()[]
            rx = mpsc.channel()[]
            shared = :Shared
            size = (Size.small() | this.size)
            first = :Conn
            kind = (Kind.of() | other)
            conn = pool.conns[]
            peer = conn.peer()
            target = :Route.target
            target = this.routes.get()
            found = this.routes.get()
            one = pool[]
            receiver one
        "#]],
    );
}

#[test]
fn receivers() {
    for (fixture, expect) in [
        (
            "fn f() { self.a.b$0",
            expect![[r#"
            enclosing f
            receiver this.a
        "#]],
        ),
        (
            "fn f() { Self::n$0",
            expect![[r#"
            enclosing f
            receiver this
        "#]],
        ),
        (
            "fn f() { crate::a::B::<u8>::$0",
            expect![[r#"
            enclosing f
            receiver crate.a.B
        "#]],
        ),
        (
            "fn f() { a.b()?.await.c.clone()$0",
            expect![[r#"
            enclosing f
        "#]],
        ),
        (
            "fn f() { a.b().unwrap().$0",
            expect![[r#"
            enclosing f
            receiver a.b()
        "#]],
        ),
        (
            "fn f(a: A) { g(a$0",
            expect![[r#"
            enclosing f
            a = :A
            trailing a
        "#]],
        ),
        (
            "fn f() -> a::$0",
            expect![[r#"
            enclosing f
            receiver a
        "#]],
        ),
        (
            "fn f() { let x = Some(S { a: 1 }.$0",
            expect![[r#"
            enclosing f
            x = :S.__ghost__
            receiver :S
        "#]],
        ),
        (
            "fn f() { println!(\"{}\", a.$0",
            expect![[r#"
                enclosing f
                receiver a
            "#]],
        ),
        (
            "fn f() { assert_eq!(1, self.a.b(c).unwrap().d[0].e$0",
            expect![[r#"
            enclosing f
            receiver this.a.b().d[]
        "#]],
        ),
        (
            "fn f() { vec![a::B::$0",
            expect![[r#"
            enclosing f
            receiver a.B
        "#]],
        ),
        (
            "fn f() { info!(x = y + z.$0",
            expect![[r#"
            enclosing f
            receiver z
        "#]],
        ),
    ] {
        names::check_scope(Rust, fixture, expect);
    }
}

#[test]
fn uses() {
    names::check_uses(
        Rust,
        r#"
use crate::a::B;
#[derive(Clone)]
struct Held<T> { config: Config, list: Vec<T> }
impl Run for Held<u8> {
    fn run(&self) -> io::Result<Kind> {
        let s = Settings { port, host: self.config.host() };
        let x = a::Point::new(MAX).len;
        helper(build::<Widget>())?.0.finish();
        (a + b).unknown();
        Kind::Done { code: 1 };
        println!("{}", hidden(1));
        match x { Shape::Round(r) => r.size, NONE => Self::fail() }
    }
}
"#,
        expect![[r#"
            Config
            Vec
            T
            Run
            Held
            io.Result
            Kind
            new Settings
            :Settings.port
            :Settings.host
            this.config
            this.config.host
            a.Point
            a.Point.new
            MAX
            a.Point.new().len
            helper
            build
            Widget
            helper().0.finish
            ().unknown
            Kind
            Kind.Done
            :Kind::Done.code
            println
            Shape
            Shape.Round
            r.size
            NONE
            this.fail
        "#]],
    );
}

fn projects() -> Projects {
    Projects::new(&[
        Manifest { path: "Cargo.toml".into(), text: "[workspace]\nmembers = []".into() },
        Manifest {
            path: "net/http/Cargo.toml".into(),
            text: "[package]\nname = \"my-http\" # x\n[[bin]]\nname = 'other'\n".into(),
        },
    ])
}

#[test]
fn import_targets() {
    let expected = [
        (
            "net/http/src/a/b.rs",
            "crate.c.D",
            expect![[r#"
            file net/http/src/c/D.rs
            file net/http/src/c/D/mod.rs
            file net/http/src/c.rs > D
            file net/http/src/c/mod.rs > D
            file net/http/src/lib.rs > c > D
            file net/http/src/main.rs > c > D
        "#]],
        ),
        (
            "net/http/src/a/b.rs",
            "super.c",
            expect![[r#"
            file net/http/src/a/c.rs
            file net/http/src/a/c/mod.rs
            file net/http/src/a.rs > c
            file net/http/src/a/mod.rs > c
        "#]],
        ),
        (
            "net/http/src/a/mod.rs",
            "super",
            expect![[r#"
            file net/http/src/lib.rs
            file net/http/src/main.rs
        "#]],
        ),
        (
            "net/http/src/a/mod.rs",
            "self.x",
            expect![[r#"
            file net/http/src/a/x.rs
            file net/http/src/a/x/mod.rs
            file net/http/src/a/mod.rs > x
        "#]],
        ),
        (
            "net/http/src/a.rs",
            "self",
            expect![[r#"
            file net/http/src/a.rs
        "#]],
        ),
        ("net/http/src/lib.rs", "super", expect![[""]]),
        (
            "net/http/tests/it/main.rs",
            "my_http.a",
            expect![[r#"
            file net/http/src/a.rs
            file net/http/src/a/mod.rs
            file net/http/src/lib.rs > a
            file net/http/src/main.rs > a
            file net/http/tests/it/my_http/a.rs
            file net/http/tests/it/my_http/a/mod.rs
            file net/http/tests/it/my_http.rs > a
            file net/http/tests/it/my_http/mod.rs > a
            file net/http/tests/it/main.rs > my_http > a
        "#]],
        ),
        (
            "net/http/tests/it/main.rs",
            "self.common",
            expect![[r#"
            file net/http/tests/it/common.rs
            file net/http/tests/it/common/mod.rs
            file net/http/tests/it/main.rs > common
        "#]],
        ),
        (
            "net/http/tests/one.rs",
            "self.common",
            expect![[r#"
            file net/http/tests/common.rs
            file net/http/tests/common/mod.rs
            file net/http/tests/one.rs > common
        "#]],
        ),
        (
            "src/main.rs",
            "crate.x",
            expect![[r#"
            file src/x.rs
            file src/x/mod.rs
            file src/lib.rs > x
            file src/main.rs > x
        "#]],
        ),
        ("unknown/src/y.rs", "std.fmt", expect![[""]]),
        (
            "unknown/src/y.rs",
            "Enum",
            expect![[r#"
            file unknown/src/y/Enum.rs
            file unknown/src/y/Enum/mod.rs
            file unknown/src/y.rs > Enum
            file unknown/src/Enum.rs
            file unknown/src/Enum/mod.rs
        "#]],
        ),
    ];
    for (from, module, expect) in expected {
        expect.assert_eq(&names::targets(Rust, from, module, &projects()));
    }
}

#[test]
fn queries_accept_truncated_text() {
    names::assert_names_of_cuts(Rust, SHAPES);
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let nested = |open: &str, close: &str| open.repeat(400) + "a" + &close.repeat(400);
    for (open, close) in
        [("a.b(", ")"), ("&", ""), ("(", ")"), ("a::", ""), ("if a { ", "}"), ("match a { b => ", "}")]
    {
        names::assert_names(Rust, &format!("fn f() {{ let x = {}; }}", nested(open, close)));
    }
    names::assert_names(Rust, &format!("use {};", nested("a::{", "}")));
    names::assert_names(Rust, &format!("fn f() {{ let {} = b; }}", nested("Some(", ")")));
    names::assert_names(Rust, &nested("mod a { use super::b; ", "}"));
    names::assert_names(Rust, &nested("m! { ", "}"));
}

#[test]
fn manifests_of_other_languages_are_ignored() {
    let manifest = |path: &str, text: &str| Manifest { path: path.into(), text: text.into() };
    let cargo = manifest("Cargo.toml", "[package]\nname = \"app\"\n");
    let node = manifest("src/web/package.json", "{\"name\": \"web\"}");
    let alone = Projects::new(std::slice::from_ref(&cargo));
    let beside = Projects::new(&[cargo, node]);
    for module in ["crate.net", "web.app", "super.net"] {
        let targets = |projects| names::targets(Rust, "src/web/server.rs", module, projects);
        assert_eq!(targets(&beside), targets(&alone), "{module}");
    }
}

#[test]
fn comments_in_signatures_are_left_out() {
    names::check_outline(
        Rust,
        "\
pub struct B(
    /// Of the first.
    pub u8,
);
fn long(a: u8, // first
    /* second */ b: u8) {}
",
        expect![[r#"
            type B | pub struct B( pub u8, )
            function long(a: u8, b: u8) [private] | fn long(a: u8, b: u8)
        "#]],
    );
}

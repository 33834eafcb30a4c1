//! Names in Go.

use expect_test::expect;
use syntax::Language::Go;
use syntax::{Manifest, Projects};

use crate::names;

/// Uses most constructs of the language that are relevant for names.
const SERVER: &str = r#"// Package web serves.
package web

import "fmt"
import (
	"net/http"
	yaml "gopkg.in/yaml.v3"
	. "example.com/dsl"
	_ "embed"
	"github.com/go-playground/validator/v10"
)

// Engine serves. It
// does so well.
type Engine[T any] struct {
	// Router of it.
	Router, backup *Router `json:"router"`
	http.Handler
	*sync.Mutex
	hooks map[string]func(c *Context) error
}

type (
	// Handler handles.
	Handler func(*Context) error
	Kind int
	Alias = http.Client
	Writer interface {
		http.ResponseWriter
		// Size is it.
		Size() (n int, err error)
		WriteAll(lines ...string)
	}
)

const (
	// Plain is the first.
	Plain Kind = iota
	Rich
	untyped = "x"
	more
)

/*
Default is used.
*/
var Default, other = New(1), map[string]int{}
var timeout time.Duration

// New makes one.
func New(size int, hooks ...Handler) (engine *Engine[int], err error) {
	local := 1
	return
}

func (e *Engine[T]) Run(addr, name string) error { return nil }
func (Kind) String() string { return "" }
func max[T any](a T) T
"#;

#[test]
fn definitions() {
    names::check_outline(
        Go,
        SERVER,
        expect![[r#"
            type Engine < http.Handler, sync.Mutex | type Engine[T any] struct | Engine serves
            field Engine.Router: *Router | Router *Router | Router of it
            field Engine.backup: *Router [private] | backup *Router | Router of it
            field Engine.Handler: http.Handler | Handler http.Handler
            field Engine.Mutex: sync.Mutex | Mutex sync.Mutex
            field Engine.hooks: map[string]func(c *Context) error [private] | hooks map[string]func(c *Context) error
            type Handler: func(*Context) error | type Handler func(*Context) error | Handler handles
            type Kind: int | type Kind int
            type Alias: http.Client | type Alias = http.Client
            type Writer < http.ResponseWriter | type Writer interface
            method Writer.Size(): int | Size() (n int, err error) | Size is it
            method Writer.WriteAll(lines: ...string) | WriteAll(lines ...string)
            constant Plain: Kind | const Plain Kind | Plain is the first
            constant Rich: Kind | const Rich
            constant untyped [private] | const untyped
            constant more [private] | const more
            constant Default = New() | var Default, other | Default is used
            constant other = :map[string]int [private] | var Default, other | Default is used
            constant timeout: time.Duration [private] | var timeout time.Duration
            function New(size: int, hooks: ...Handler): *Engine[int] | func New(size int, hooks ...Handler) (engine *Engine[int], err error) | New makes one
            method Engine::Run(addr: string, name: string): error | func (e *Engine[T]) Run(addr, name string) error
            method Kind::String(): string | func (Kind) String() string
            function max(a: T): T [private] | func max[T any](a T) T
            import fmt as fmt
            import net/http as http
            import gopkg.in/yaml.v3 as yaml
            import all of example.com/dsl as *
            import github.com/go-playground/validator/v10 as validator
        "#]],
    );
}

#[test]
fn scopes() {
    names::check_scope(
        Go,
        r#"package web
func hidden(a A) { b := 1 }
func (e *Engine) Run(addrs []string, opts ...Option) (err error) {
	ln, err := net.Listen("tcp", addrs[0])
	client := &http.Client{Timeout: 1}
	var pool, spare = NewPool(), pools[0]
	var ctx context.Context
	made := make(map[string]*Conn)
	fresh := new(Conn)
	list := append(e.list, fresh)
	bytes := []byte("x")
	conn := raw.(*net.TCPConn)
	first := <-e.events
	part := e.list[1:]
	for i, each := range e.list {
		for only := range 10 {
			switch kind := conn.(type) {
			case *Tcp:
				go func(inner Inner) {
					if got, ok := e.routes[only]; ok {
						got.$0
"#,
        expect![[r#"
            enclosing Run
            e = :*Engine
            addrs = :[]string
            opts = :...Option
            err = :error
            ln = net.Listen()
            err = ()
            client = :http.Client
            pool = NewPool()
            spare = pools[]
            ctx = :context.Context
            made = :map[string]*Conn
            fresh = :Conn
            list = e.list
            bytes = :[]byte
            conn = :*net.TCPConn
            first = e.events[]
            part = e.list
            i = ()
            each = e.list[]
            only = ()
            kind = conn
            kind = :*Tcp
            inner = :Inner
            got = e.routes[]
            ok = ()
            receiver got
        "#]],
    );
}

#[test]
fn receivers() {
    for (fixture, expect) in [
        (
            "package p\nfunc f() { a.b().c[0].D$0",
            expect![[r#"
            enclosing f
            receiver a.b().c[]
        "#]],
        ),
        (
            "package p\nfunc f() { http.$0",
            expect![[r#"
            enclosing f
            receiver http
        "#]],
        ),
        (
            "package p\nfunc f(a http.$0",
            expect![[r#"
            enclosing f
            a = :http.__ghost__
            receiver http
        "#]],
        ),
        (
            "package p\nfunc f() { x := &pkg.T{a: b.$0",
            expect![[r#"
            enclosing f
            x = :pkg.T
            receiver b
        "#]],
        ),
        (
            "package p\nfunc f() { return (*a).b$0",
            expect![[r#"
            enclosing f
            receiver a
        "#]],
        ),
        (
            "package p\nfunc f() { g(a$0",
            expect![[r#"
            enclosing f
            trailing a
        "#]],
        ),
    ] {
        names::check_scope(Go, fixture, expect);
    }
}

#[test]
fn uses() {
    names::check_uses(
        Go,
        r#"package web
import "net/http"
type Held struct { config Config; list []pkg.Item }
func (h *Held) Run(kind Kind) error {
	s := Settings{Port: h.config.port, Host: host()}
	m := map[string]Widget{key: {Size: 1}}
	n := Limit + Kinds[Small]
	x := &pkg.Point[int]{X: 1}
	generic[Thing](x).Finish()
	return errors.New("x" + y).(*Special)
}
"#,
        expect![[r#"
            Config
            pkg.Item
            Held
            Kind
            new Settings
            :Settings.Port
            h.config
            h.config.port
            :Settings.Host
            host
            Widget
            Size
            Limit
            Kinds
            Small
            pkg.Point
            :pkg.Point[int].X
            generic
            Thing
            :generic[Thing].Finish
            errors.New
            Special
        "#]],
    );
}

#[test]
fn import_targets() {
    let known = Projects::new(&[Manifest {
        path: "backend/go.mod".into(),
        text: "// About it.\nmodule example.com/shop // main\n\ngo 1.22\n".into(),
    }]);
    let unknown = Projects::default();
    for (module, projects, expect) in [
        (
            "example.com/shop/internal/cart",
            &known,
            expect![[r#"
            folder backend/internal/cart
        "#]],
        ),
        (
            "example.com/shop",
            &known,
            expect![[r#"
            folder backend
        "#]],
        ),
        (
            "example.com/shopping/cart",
            &known,
            expect![[r#"
            folder */example.com/shopping/cart
            folder */shopping/cart
        "#]],
        ),
        (
            "github.com/gin-gonic/gin/internal/json",
            &unknown,
            expect![[r#"
            folder */github.com/gin-gonic/gin/internal/json
            folder */gin-gonic/gin/internal/json
            folder */gin/internal/json
            folder */internal/json
            folder */json
        "#]],
        ),
        (
            "net/http",
            &unknown,
            expect![[r#"
            folder */net/http
        "#]],
        ),
        (
            "errors",
            &unknown,
            expect![[r#"
            folder */errors
        "#]],
        ),
    ] {
        expect.assert_eq(&names::targets(Go, "backend/web/a.go", module, projects));
    }
}

#[test]
fn implicit_target_is_the_own_folder() {
    let seen = Go.implicit_targets("backend/web/a.go", "");
    expect![[r#"
        folder backend/web
    "#]]
    .assert_eq(&seen.iter().map(names::target).collect::<String>());
}

#[test]
fn queries_accept_truncated_text() {
    names::assert_names_of_cuts(Go, SERVER);
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let nested = |open: &str, close: &str| open.repeat(400) + "a" + &close.repeat(400);
    for (open, close) in
        [("a.b(", ")"), ("&", ""), ("(", ")"), ("a.", ""), ("func() { x := ", "}"), ("T{a: ", "}")]
    {
        names::assert_names(Go, &format!("package p\nfunc f() {{ x := {}\n}}", nested(open, close)));
    }
    names::assert_names(Go, &format!("package p\ntype T {}", nested("struct { a ", "}")));
}

#[test]
fn manifests_of_other_languages_are_ignored() {
    let named = |path: &str, text: &str| Manifest { path: path.into(), text: text.into() };
    let others = Projects::new(&[
        named("package.json", "{\"name\": \"example.com/shop\"}"),
        named("tool/Cargo.toml", "[package]\nname = \"tool\"\n"),
    ]);
    for module in ["example.com/shop/cart", "example.com/cart", "fmt"] {
        let from = "shop/main.go";
        assert_eq!(
            names::targets(Go, from, module, &others),
            names::targets(Go, from, module, &Projects::default()),
            "{module}"
        );
    }
}

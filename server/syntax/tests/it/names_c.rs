//! Names in C and C++.

use expect_test::expect;
use syntax::Language::{C, Cpp};
use syntax::Projects;

use crate::names;

/// Uses most constructs of C that are relevant for names.
const HEADER: &str = r#"/* The license. */
#ifndef POOL_H
#define POOL_H
#include <stdio.h>
#include "util/list.h"

/* Most of them. */
#define POOL_MAX 16 /* at most */
#define POOL_AT(pool, i) \
    ((pool)->items[(i)])
#define POOL_EMPTY

#if defined(__cplusplus)
extern "C" {
#endif

/*! POOL_kind :
 *  What is in it. Or not. */
typedef enum { POOL_small, POOL_big = 2 /**< the big one */ } POOL_kind;
enum color { RED, GREEN };
enum { ANONYMOUS = 1 };

struct POOL_ctx_s;
typedef struct POOL_ctx_s POOL_ctx;
typedef struct pool pool;
typedef struct node_s {
    struct node_s *next; /* the one behind it */
    int items[4], *count;
    int (*callback)(void *arg, int n);
    union { long whole; float part; };
    struct { int x; } position;
    unsigned flags : 3;
} node, *node_ptr;
typedef struct {
    size_t size;
} POOL_buffer;
typedef int (*POOL_free)(void *);
typedef unsigned long U64;

// Makes one.
POOL_ctx *POOL_create(size_t count, const struct node_s *first, ...);
static int helper(void) { int local = 1; return local; }
static inline U64 POOL_size(const pool* p) { return p->size; }
extern int (*POOL_hook)(void), POOL_count;
static const char *names[] = { "a" };
const int POOL_limit = 3;
char **POOL_names(int (*compare)(int, int), char *argv[]);

#ifdef __cplusplus
}
#endif
#endif
"#;

/// Uses most constructs of C++ that are relevant for names.
const SHAPES: &str = r#"#include "shape.h"
using namespace std;
using geometry::Point;
namespace fs = std::filesystem;

namespace shapes {
namespace detail::deep { int helper(); }
namespace { int counter = 0; class Hidden {}; }

enum class Kind : int { kRound, kFlat };
enum Plain { kOne, kTwo };

// A shape. More.
template <typename T>
class Shape : public Base<T>, private detail::Mixin {
  int secret_;
 public:
  using Ptr = std::shared_ptr<Shape>;
  Shape() = default;
  explicit Shape(int sides) : sides_(sides) {}
  ~Shape();
  Shape& operator=(const Shape&) = delete;
  operator bool() const;
  // The area.
  virtual double area(const Point& at = {}, T* out) const = 0;
  static Shape<T> make(std::vector<T> parts) { return Shape(); }
  auto size() const -> std::size_t;
  template <class U> U as() const;
  struct Inner { int depth; };
  friend class Other;
  static constexpr int kMax = 4;
  std::map<int, T> parts_, *other_ = nullptr;
 protected:
  void grow();
#if DEBUG
  void check();
#endif
  enum { kInside };
};

template <typename T>
double Shape<T>::area(const Point& at, T* out) const { return 0; }
Point::Point(int x) {}
geometry::Point geometry::origin() { return {}; }
auto registry = Registry::instance();
}  // namespace shapes

void shapes::Shape::grow() {}
struct Late final : shapes::Shape<int> { int a; } late;

// Exported.
class SHAPES_EXPORT Exported {
 public:
  virtual ~Exported();
  virtual Status Get(const Slice& key) = 0;
 private:
  int rep_;
};
class SHAPES_EXPORT Derived : public Exported {
  int own_;
};
SHAPES_EXPORT Status destroy(const std::string& name);
"#;

#[test]
fn definitions_in_c() {
    names::check_outline(
        C,
        HEADER,
        expect![[r#"
            constant POOL_MAX | #define POOL_MAX 16 | Most of them
            function POOL_AT(pool, i) | #define POOL_AT(pool, i)
            type POOL_kind | typedef enum POOL_kind | POOL_kind : What is in it
            constant POOL_small: POOL_kind [static] | POOL_small
            constant POOL_big: POOL_kind [static] | POOL_big = 2 | the big one
            type color | enum color
            constant RED: color [static] | RED
            constant GREEN: color [static] | GREEN
            constant ANONYMOUS [static] | ANONYMOUS = 1
            type POOL_ctx: POOL_ctx_s | typedef struct POOL_ctx_s POOL_ctx
            type node: node_s | typedef struct node_s node
            type node_ptr: node_s | typedef struct node_s node_ptr
            type node_s | struct node_s
            field node_s.next: node_s | struct node_s *next | the one behind it
            field node_s.items: int | int items[4]
            field node_s.count: int | int *count
            field node_s.callback: int | int (*callback)(void *arg, int n)
            field node_s.whole: long | long whole
            field node_s.part: float | float part
            field node_s.position | struct position
            field node_s.x: int | int x
            field node_s.flags: unsigned | unsigned flags : 3
            type POOL_buffer | typedef struct POOL_buffer
            field POOL_buffer.size: size_t | size_t size
            type POOL_free: int | typedef int (*POOL_free)(void *)
            type U64: unsigned long | typedef unsigned long U64
            function POOL_create(count: size_t, first: node_s): POOL_ctx | POOL_ctx *POOL_create(size_t count, const struct node_s *first, ...) | Makes one
            function helper(): int [private] | static int helper(void)
            function POOL_size(p: pool): U64 | static inline U64 POOL_size(const pool* p)
            constant POOL_hook: int | int (*POOL_hook)(void)
            constant POOL_count: int | int POOL_count
            constant names: char [private] | static const char *names[]
            constant POOL_limit: int | const int POOL_limit
            function POOL_names(compare: int, argv: char): char | char **POOL_names(int (*compare)(int, int), char *argv[])
            import all of stdio.h as * [reexport]
            import all of util/list.h as * [reexport]
        "#]],
    );
}

#[test]
fn definitions_in_cpp() {
    names::check_outline(
        Cpp,
        SHAPES,
        expect![[r#"
            function helper(): int in shapes.detail.deep | int helper()
            constant counter: int [private] in shapes | int counter
            type Hidden [private] in shapes | class Hidden
            type Kind in shapes | enum class Kind : int
            field Kind.kRound: Kind [static] in shapes | kRound
            field Kind.kFlat: Kind [static] in shapes | kFlat
            type Plain in shapes | enum Plain
            constant kOne: Plain [static] in shapes | kOne
            constant kTwo: Plain [static] in shapes | kTwo
            type Shape < Base<T>, detail::Mixin in shapes | class Shape : public Base<T>, private detail::Mixin | A shape
            field Shape.secret_: int [private] in shapes | int secret_
            type Shape.Ptr: std::shared_ptr<Shape> in shapes | using Ptr = std::shared_ptr<Shape>
            constructor Shape.Shape() in shapes | Shape() = default
            constructor Shape.Shape(sides: int) in shapes | explicit Shape(int sides)
            method Shape.area(at: Point, out: T): double in shapes | virtual double area(const Point& at = {}, T* out) const = 0 | The area
            method Shape.make(parts: std::vector<T>): Shape<T> [static] in shapes | static Shape<T> make(std::vector<T> parts)
            method Shape.size(): std::size_t in shapes | auto size() const -> std::size_t
            method Shape.as(): U in shapes | U as() const
            type Shape.Inner in shapes | struct Inner
            field Shape.Inner.depth: int in shapes | int depth
            field Shape.kMax: int [static] in shapes | static constexpr int kMax
            field Shape.parts_: std::map<int, T> in shapes | std::map<int, T> parts_
            field Shape.other_: std::map<int, T> in shapes | std::map<int, T> *other_
            method Shape.grow(): void [private] in shapes | void grow()
            method Shape.check(): void [private] in shapes | void check()
            constant Shape.kInside [private] [static] in shapes | kInside
            method Shape::area(at: Point, out: T): double in shapes | double Shape<T>::area(const Point& at, T* out) const
            constructor Point::Point(x: int) in shapes | Point::Point(int x)
            method geometry::origin(): geometry::Point in shapes | geometry::Point geometry::origin()
            constant registry = Registry.instance() in shapes | auto registry
            method shapes::Shape::grow(): void | void shapes::Shape::grow()
            constant late: Late | struct Late final : shapes::Shape<int> late
            type Late < shapes::Shape<int> | struct Late final : shapes::Shape<int>
            field Late.a: int | int a
            type Exported | class SHAPES_EXPORT Exported | Exported
            method Exported.Get(key: Slice): Status | virtual Status Get(const Slice& key) = 0
            field Exported.rep_: int [private] | int rep_
            type Derived < Exported | class SHAPES_EXPORT Derived : public Exported
            field Derived.own_: int [private] | int own_
            function destroy(name: std::string): Status | SHAPES_EXPORT Status destroy(const std::string& name)
            namespace shapes
            namespace shapes.detail.deep
            import all of shape.h as * [reexport]
            import all of std as *
            import Point of geometry as Point [reexport]
            import std::filesystem as fs
        "#]],
    );
}

#[test]
fn scopes_in_c() {
    names::check_scope(
        C,
        r#"
static int before(hidden *h) { hidden b; return 0; }
int POOL_run(POOL_ctx* ctx, const struct node_s *first, int argv[]) {
    POOL_job job = ctx->queue[0], *other = &ctx->jobs[1];
    node_ptr next = (node_ptr)first;
    const char *name = "x";
    for (unsigned i = 0; i < 3; i++) {
        if (next) {
            ctx->queue[i].$0
"#,
        expect![[r#"
            enclosing POOL_run
            ctx = :POOL_ctx
            first = :node_s
            argv = :int
            job = :POOL_job
            other = :POOL_job
            next = :node_ptr
            name = :char
            i = :unsigned
            receiver ctx.queue[]
        "#]],
    );
}

#[test]
fn scopes_in_cpp() {
    names::check_scope(
        Cpp,
        r#"
namespace db {
Status DBImpl::Get(const ReadOptions& options, std::string* value) {
    MutexLock lock(&mutex_);
    auto* mem = versions_->current()->mem();
    auto made = std::make_unique<Widget>(1);
    auto moved = std::move(options.snapshot);
    auto cast = static_cast<Derived*>(base);
    auto fresh = new db::Table(1);
    auto picked = ok ? left : right.inner;
    std::vector<Item> items{};
    auto [key, file] = files_[0];
    for (const auto& item : items) {
        for (Entry entry : item.entries()) {
            auto callback = [&](Event event) {
                if (auto found = this->find<int>(key)) {
                    found->$0
"#,
        expect![[r#"
            enclosing Get
            options = :ReadOptions
            value = :std::string
            lock = :MutexLock
            mem = versions_.current().mem()
            made = :Widget
            moved = options.snapshot
            cast = :Derived
            fresh = :db::Table
            picked = (left | right.inner)
            items = :std::vector<Item>
            key = files_[][]
            file = files_[][]
            item = items[]
            entry = :Entry
            callback = ()
            event = :Event
            found = this.find()
            receiver found
        "#]],
    );
}

#[test]
fn receivers() {
    for (language, fixture, expect) in [
        (
            C,
            "void f() { a.b->c$0",
            expect![[r#"
            enclosing f
            receiver a.b
        "#]],
        ),
        (
            C,
            "void f() { (*a)[0].b().$0",
            expect![[r#"
            enclosing f
            receiver a[].b()
        "#]],
        ),
        (
            C,
            "void f() { x = g(a, b->$0",
            expect![[r#"
            enclosing f
            receiver b
        "#]],
        ),
        (
            C,
            "void f() { call(a$0",
            expect![[r#"
            enclosing f
            trailing a
        "#]],
        ),
        (
            Cpp,
            "void f() { a::b::C<int>::$0",
            expect![[r#"
                enclosing f
                receiver a.b.C
            "#]],
        ),
        (
            Cpp,
            "void f() { a::b::c$0",
            expect![[r#"
            enclosing f
            receiver a.b
        "#]],
        ),
        (
            Cpp,
            "void A::f() { this->b.get<T>().$0",
            expect![[r#"
            enclosing f
            receiver this.b.get()
        "#]],
        ),
        (
            Cpp,
            "void f() { auto x = std::$0",
            expect![[r#"
            enclosing f
            x = std.__ghost__
            receiver std
        "#]],
        ),
    ] {
        names::check_scope(language, fixture, expect);
    }
}

#[test]
fn uses() {
    expect![[r#"
        Base
        detail
        detail.Mixin
        Config
        pkg
        pkg.Item
        Status
        Held
        Kind
        new Widget
        kMax
        leveldb
        db
        leveldb.db.Slice
        Status
        Status.OK
        Status.OK().code
        config.list
        config.list.all
        helper
        Thing
        Kind
        Kind.kRound
        MACRO
        get
        get().unknown
        ().size
    "#]]
    .assert_eq(&names::uses(
        Cpp,
        r#"
#include "a.h"
using geometry::Point;
class Held : public Base, detail::Mixin { Config config; pkg::Item items; };
Status Held::Run(const Kind& kind, int MAX_ARG) {
    auto* w = new Widget(kMax + local);
    leveldb::db::Slice s = Status::OK().code;
    for (auto& x : config.list->all()) helper<Thing>(x);
    switch (kind) { case Kind::kRound: return MACRO(x); }
    return get().unknown(("a" "b").size());
}
"#,
    ));
}

#[test]
fn include_targets() {
    for (module, expect) in [
        (
            "util/list.h",
            expect![[r#"
            file lib/compress/util/list.h
            file */util/list.h
        "#]],
        ),
        (
            "../common/mem.h",
            expect![[r#"
            file lib/common/mem.h
            file */common/mem.h
        "#]],
        ),
        (
            "vector",
            expect![[r#"
            file lib/compress/vector
            file */vector
            namespace vector
        "#]],
        ),
        (
            "geometry::detail",
            expect![[r#"
            namespace geometry.detail
        "#]],
        ),
    ] {
        expect.assert_eq(&names::targets(Cpp, "lib/compress/pool.cc", module, &Projects::default()));
    }
}

#[test]
fn implicit_targets_are_the_enclosing_namespaces() {
    let seen = Cpp.implicit_targets("a.cc", "shapes.detail");
    expect![[r#"
        namespace shapes.detail
        namespace shapes
    "#]]
    .assert_eq(&seen.iter().map(names::target).collect::<String>());
    assert!(C.implicit_targets("a.c", "").is_empty());
}

#[test]
fn queries_accept_truncated_text() {
    names::assert_names_of_cuts(C, HEADER);
    names::assert_names_of_cuts(Cpp, SHAPES);
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let nested = |open: &str, close: &str| open.repeat(400) + "a" + &close.repeat(400);
    for (open, close) in
        [("a.b(", ")"), ("&", ""), ("(", ")"), ("a::", ""), ("x ? ", " : y"), ("{ auto x = ", ";}")]
    {
        names::assert_names(Cpp, &format!("void f() {{ auto x = {}; }}", nested(open, close)));
    }
    names::assert_names(Cpp, &format!("int {};", nested("*", "")));
    names::assert_names(Cpp, &format!("int {};", nested("(", ")")));
    names::assert_names(Cpp, &nested("struct S { ", "; };"));
    names::assert_names(Cpp, &nested("class A B { ", "; };"));
    names::assert_names(Cpp, &nested("namespace n { ", "; }"));
}

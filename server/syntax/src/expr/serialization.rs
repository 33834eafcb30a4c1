//! Serialization of an expression as the steps that build it, parts before wholes. Reading does not recurse, however many steps
//! there are, and an expression deeper than [`Expr::MAX_DEPTH`] is an error.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Expr;

/// A step that builds an expression from the expressions of earlier steps.
#[derive(Serialize, Deserialize)]
enum ExprStep<Text> {
    Name(Text),
    This,
    Super,
    Member(Text),
    Call,
    Typed(Text),
    Element,
    /// Number of alternatives.
    Either(u32),
}

impl Serialize for Expr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut steps = Vec::new();
        add_steps(self, &mut steps);
        steps.serialize(serializer)
    }
}

fn add_steps<'e>(expr: &'e Expr, steps: &mut Vec<ExprStep<&'e str>>) {
    let last = match expr {
        Expr::Name(name) => ExprStep::Name(&**name),
        Expr::This => ExprStep::This,
        Expr::Super => ExprStep::Super,
        Expr::Typed(written) => ExprStep::Typed(&**written),
        Expr::Member(object, name) => {
            add_steps(object, steps);
            ExprStep::Member(&**name)
        }
        Expr::Call(callee) => {
            add_steps(callee, steps);
            ExprStep::Call
        }
        Expr::Element(collection) => {
            add_steps(collection, steps);
            ExprStep::Element
        }
        Expr::Either(some) => {
            some.iter().for_each(|one| add_steps(one, steps));
            ExprStep::Either(some.len() as u32)
        }
    };
    steps.push(last);
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Expr, D::Error> {
        let steps = Vec::<ExprStep<Box<str>>>::deserialize(deserializer)?;
        build_expr(steps).ok_or_else(|| D::Error::custom("the steps give no expression"))
    }
}

/// Builds the expression; `None` if the steps give none, more than one, or one that is too deep.
fn build_expr(steps: Vec<ExprStep<Box<str>>>) -> Option<Expr> {
    let mut made: Vec<DepthTrackedExpr> = Vec::new();
    for step in steps {
        let next = match step {
            ExprStep::Name(name) => DepthTrackedExpr::new(Expr::Name(name)),
            ExprStep::This => DepthTrackedExpr::new(Expr::This),
            ExprStep::Super => DepthTrackedExpr::new(Expr::Super),
            ExprStep::Typed(written) => DepthTrackedExpr::new(Expr::Typed(written)),
            ExprStep::Member(name) => made.pop()?.into(|object| Expr::Member(Box::new(object), name))?,
            ExprStep::Call => made.pop()?.into(Expr::call)?,
            ExprStep::Element => made.pop()?.into(Expr::element)?,
            ExprStep::Either(count) => {
                DepthTrackedExpr::either(made.split_off(made.len().checked_sub(count as usize)?))?
            }
        };
        made.push(next);
    }
    let whole = made.pop()?;
    made.is_empty().then_some(whole.expr)
}

/// An expression with its depth.
struct DepthTrackedExpr {
    expr: Expr,
    depth: usize,
}

impl DepthTrackedExpr {
    fn new(expr: Expr) -> DepthTrackedExpr {
        DepthTrackedExpr { expr, depth: 1 }
    }

    fn into(self, wrap: impl FnOnce(Expr) -> Expr) -> Option<DepthTrackedExpr> {
        let depth = self.depth + 1;
        (depth <= Expr::MAX_DEPTH).then(|| DepthTrackedExpr { expr: wrap(self.expr), depth })
    }

    fn either(some: Vec<DepthTrackedExpr>) -> Option<DepthTrackedExpr> {
        let depth = 1 + some.iter().map(|one| one.depth).max().unwrap_or(0);
        let expr = Expr::Either(some.into_iter().map(|one| one.expr).collect());
        (depth <= Expr::MAX_DEPTH).then_some(DepthTrackedExpr { expr, depth })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_round_trip() {
        let name = |name: &str| Expr::Name(name.into());
        let member = Expr::Member(Box::new(Expr::This), "b".into());
        let either =
            Expr::Either(vec![member.clone().call(), Expr::UNKNOWN, Expr::Typed("T".into()), Expr::Super]);
        for expr in [name("a"), member, either.clone().element(), Expr::Either(vec![either, name("c")])] {
            let stored = serde_json::to_string(&expr).unwrap();
            assert_eq!(serde_json::from_str::<Expr>(&stored).unwrap(), expr, "{stored}");
        }
    }

    #[test]
    fn too_deep_expressions_are_rejected() {
        let deep = |calls: usize| format!("[{{\"Name\":\"a\"}}{}]", ",\"Call\"".repeat(calls));
        let read = |calls| serde_json::from_str::<Expr>(&deep(calls));
        assert!(read(Expr::MAX_DEPTH - 1).unwrap().is_within(Expr::MAX_DEPTH));
        for calls in [Expr::MAX_DEPTH, 1_000_000] {
            assert!(read(calls).is_err());
        }
    }

    #[test]
    fn steps_without_a_single_result_are_rejected() {
        for steps in
            ["[]", r#"["Call"]"#, r#"["This","This"]"#, r#"["This",{"Either":2}]"#, r#"[{"Member":"a"}]"#]
        {
            assert!(serde_json::from_str::<Expr>(steps).is_err(), "{steps}");
        }
    }
}

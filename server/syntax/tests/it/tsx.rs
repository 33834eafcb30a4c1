//! TSX: TypeScript with JSX elements in expressions.

use expect_test::expect;
use syntax::Language::Tsx;

use crate::check::check;

#[test]
fn component() {
    check(
        Tsx,
        r#"
export function App({ name }: Props): JSX.Element {
  const [a, setA] = useState<string>("");
  useEffect(() => {
    setA(na$0me);
  }, [name]);
  if (!a) return null;
  return (
    <Layout title={`x ${a}`}>
      {items.map((item) => {
        return <Item key={item.id} {...item} />;
      })}
    </Layout>
  );
}
"#,
        expect![[r#"
            function "export function App({ name }: Props): JSX.Element {" "\n  const [a, setA] = useState<…\n      })}\n    </Layout>\n  );\n" "}" ["const [a, …ring>(\"\");", "useEffect(…, [name]);", "if (!a) return null;", "return (\n …yout>\n  );"]
              statement "const [a, setA] = useState<string>(\"\");"
              statement "useEffect(() => {\n    setA(name);\n  }, [name]);"
                statement "setA(name);"
              if "if (!a)" " return null;" "" ["return null;"]
                statement "return null;"
              statement "return (\n    <Layout title={`x…;\n      })}\n    </Layout>\n  );"
                statement "return <Item key={item.id} {...item} />;"
            name: App
            end: "me);"
        "#]],
    );
}

#[test]
fn memoised_component() {
    check(
        Tsx,
        r#"
const Row = memo((props: Props) => {
  return <tr>{props.ce$0lls}</tr>;
});
"#,
        expect![[r#"
            statement "const Row = memo((props: Props…rn <tr>{props.cells}</tr>;\n});"
              statement "return <tr>{props.cells}</tr>;"
            end: "lls}</tr>;"
        "#]],
    );
}

#[test]
fn unclosed_element() {
    check(
        Tsx,
        r#"
const A = () => {
  return <div><b></div>;
};
"#,
        expect![[r#"
            function "const A = () => {" "\n  return <div><b></div>;\n" "};" [] !
            name: A
        "#]],
    );
}

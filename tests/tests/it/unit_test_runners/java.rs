//! Maven runs tests of Java, and JaCoCo says which lines they execute.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cases::TestRunnerKind;
use sandbox::{ChangedFile, Sandbox, SandboxOptions, TestRunner, TestSelection, TestState};
use tests::{Project, binary, component};

/// A class with two tested methods and one without tests, for the plugins of Debian's repository.
const PRICES: &str = r#"
//- /.mvn/maven.config
-Dmaven.repo.local=/usr/share/maven-repo
//- /pom.xml
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId>
  <artifactId>prices</artifactId>
  <version>1</version>
  <properties>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
    <maven.compiler.source>8</maven.compiler.source>
    <maven.compiler.target>8</maven.compiler.target>
  </properties>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.0</version></plugin>
      <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.10.1</version></plugin>
      <plugin><artifactId>maven-surefire-plugin</artifactId><version>2.22.3</version></plugin>
    </plugins>
  </build>
</project>
//- /src/main/java/shop/Prices.java
package shop;

final class Prices {
    static int total(int first, int second) {
        return first + second;
    }

    static int cheapest(int first, int second) {
        return first < second ? first : second;
    }

    static int doubled(int price) {
        return price + price;
    }
}
//- /src/test/java/shop/TotalTest.java
package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class TotalTest {
    @Test
    public void addsPrices() {
        assertEquals(3, Prices.total(1, 2));
    }

    @Test
    public void addsNothing() {
        assertEquals(1, Prices.total(1, 0));
    }
}
//- /src/test/java/shop/CheapestTest.java
package shop;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class CheapestTest {
    @Test
    public void findsTheLowerPrice() {
        assertEquals(1, Prices.cheapest(2, 1));
    }
}
"#;

#[test]
fn maven_runs_tests_and_jacoco_knows_their_lines() {
    if ["bwrap", "mvn", "javac"].iter().any(|program| component(program).is_none()) {
        return;
    }
    let project = Project::new(PRICES);
    let options = SandboxOptions { program: Some(binary()), ..SandboxOptions::default() };
    let sandbox = Sandbox::new(&project.root(), &options).expect("a sandbox");
    let maven = TestRunner::of_kind(TestRunnerKind::Maven, Path::new(""));
    assert_eq!(TestRunner::detect(&project.root()), std::slice::from_ref(&maven));

    let run = maven.run(&sandbox, &[], TestSelection::default()).expect("a run");
    let tests: Vec<String> = run.results.tests.keys().cloned().collect();
    let names = [
        "shop.CheapestTest::findsTheLowerPrice",
        "shop.TotalTest::addsNothing",
        "shop.TotalTest::addsPrices",
    ];
    assert_eq!(tests, names, "{}", run.outcome.output);
    assert!(run.results.tests.values().all(|test| test.state == TestState::Passed));

    let covered = maven.cover(&sandbox, &tests).expect("a run").expect("JaCoCo is installed");
    // Tests of a class share their lines.
    let lines = BTreeMap::from([(5, vec![1, 2]), (9, vec![0])]);
    assert_eq!(covered, BTreeMap::from([("src/main/java/shop/Prices.java".to_owned(), lines)]));

    let path = "src/main/java/shop/Prices.java";
    let source = fs::read_to_string(project.root().join(path)).expect("a source file");
    let changed = source.replace("first + second", "first - second");
    let change = ChangedFile { path: path.into(), text: changed };
    let selected = TestSelection { tests: Some(&tests[1..]), ..TestSelection::default() };
    let run = maven.run(&sandbox, &[change], selected).expect("a run");
    let states: Vec<TestState> = run.results.tests.values().map(|test| test.state).collect();
    assert_eq!(states, [TestState::Passed, TestState::Failed], "{}", run.outcome.output);
}

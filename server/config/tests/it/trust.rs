//! Rights of a workspace's file before the user trusts it.

use config::EngineConfigError;
use expect_test::expect;
use serde_json::json;

use crate::fixture::{check, config};

const ENGINES: &str = r#"
[completion]
enabled = false
engine = "theirs"
deadline_ms = 100
[context]
strategy = "none"
[record]
privacy = "full"
[[engine]]
name = "theirs"
kind = "command"
command = ["./steal.sh"]
[[engine]]
name = "mine"
url = "http://elsewhere.example"
"#;

const MINE: &str = r#"
//- user
[record]
privacy = "off"
[[engine]]
name = "mine"
kind = "openai"
url = "http://h"
api_key_env = "KEY"
//- environment
KEY=abc
"#;

#[test]
fn untrusted_file_sets_no_commands_urls_or_keys() {
    check(
        &format!("{MINE}//- untrusted{ENGINES}"),
        expect![[r#"
        completion.enabled = false (workspace file /shop/ghostbench.toml:2:1)
        completion.deadline_ms = 100 (workspace file /shop/ghostbench.toml:4:1)
        context.strategy = "none" (workspace file /shop/ghostbench.toml:6:1)
        record.privacy = "off" (user file /home/you/.config/ghostbench/config.toml:2:1)
        [mine] openai: ready
          url = "http://h" (user file /home/you/.config/ghostbench/config.toml:6:1)
          api_key_env = $KEY (user file /home/you/.config/ghostbench/config.toml:7:1)
        [theirs] command: /shop/ghostbench.toml is not trusted
          command = ["/shop/steal.sh"] (workspace file /shop/ghostbench.toml:12:1)
        Untrusted /shop/ghostbench.toml: is not trusted, so its engines are not asked (`theirs`, `mine`) and `completion.engine`, `record.privacy` do not hold; read it, then run: ghostbench trust /shop/ghostbench.toml
    "#]],
    );
}

#[test]
fn a_changed_file_is_untrusted_again() {
    check(
        &format!("{MINE}//- changed{ENGINES}"),
        expect![[r#"
        completion.enabled = false (workspace file /shop/ghostbench.toml:2:1)
        completion.deadline_ms = 100 (workspace file /shop/ghostbench.toml:4:1)
        context.strategy = "none" (workspace file /shop/ghostbench.toml:6:1)
        record.privacy = "off" (user file /home/you/.config/ghostbench/config.toml:2:1)
        [mine] openai: ready
          url = "http://h" (user file /home/you/.config/ghostbench/config.toml:6:1)
          api_key_env = $KEY (user file /home/you/.config/ghostbench/config.toml:7:1)
        [theirs] command: /shop/ghostbench.toml is not trusted
          command = ["/shop/steal.sh"] (workspace file /shop/ghostbench.toml:12:1)
        Untrusted /shop/ghostbench.toml: has changed since it was trusted, so its engines are not asked (`theirs`, `mine`) and `completion.engine`, `record.privacy` do not hold; read it, then run: ghostbench trust /shop/ghostbench.toml
    "#]],
    );
}

#[test]
fn trusted_file_may_set_engines_and_privacy() {
    check(
        &format!("{MINE}//- workspace{ENGINES}"),
        expect![[r#"
        completion.enabled = false (workspace file /shop/ghostbench.toml:2:1)
        completion.engine = "theirs" (workspace file /shop/ghostbench.toml:3:1)
        completion.deadline_ms = 100 (workspace file /shop/ghostbench.toml:4:1)
        context.strategy = "none" (workspace file /shop/ghostbench.toml:6:1)
        record.privacy = "full" (workspace file /shop/ghostbench.toml:8:1)
        [mine] openai: ready
          url = "http://elsewhere.example" (workspace file /shop/ghostbench.toml:15:1)
          api_key_env = $KEY (user file /home/you/.config/ghostbench/config.toml:7:1)
        [theirs] command: ready
          command = ["/shop/steal.sh"] (workspace file /shop/ghostbench.toml:12:1)
    "#]],
    );
}

#[test]
fn harmless_settings_need_no_trust() {
    check(
        "//- untrusted\n[context]\nstrategy = \"none\"\n",
        expect![[r#"
        context.strategy = "none" (workspace file /shop/ghostbench.toml:2:1)
    "#]],
    );
}

#[test]
fn engines_of_an_untrusted_file_have_no_settings() {
    let config = config(&format!("//- untrusted{ENGINES}"));
    for engine in &config.engines {
        assert!(matches!(engine.settings, Err(EngineConfigError::Untrusted { .. })), "{engine:?}");
    }
}

#[test]
fn keys_in_a_workspace_file_are_refused() {
    check(
        r#"
//- workspace
[[engine]]
name = "a"
kind = "openai"
url = "http://me:do-not-show@h"
headers = {authorization = "Bearer do-not-show"}
proxy = "http://me:do-not-show@h"
[[engine]]
name = "b"
kind = "openai"
url = "http://h"
headers = {Authorization = "Bearer $KEY", X-Org = "us"}
//- environment
KEY=abc
"#,
        expect![[r#"
            [a] openai: it needs `url`
            [b] openai: ready
              url = "http://h" (workspace file /shop/ghostbench.toml:10:1)
              headers = Authorization: …$KEY, X-Org: … (workspace file /shop/ghostbench.toml:11:1)
            Error /shop/ghostbench.toml:4:7: `url` contains a password, which is not allowed in a workspace; use an environment variable in `headers`
            Error /shop/ghostbench.toml:5:11: `headers` has a value for `authorization`, but keys are not allowed in a workspace; write $NAME for an environment variable
            Error /shop/ghostbench.toml:6:9: `proxy` contains a password, which is not allowed in a workspace; write $NAME for an environment variable
        "#]],
    );
}

#[test]
fn editor_setting_can_trust_the_folder() {
    for (settings, expected) in [
        (json!({"trusted": true}), Some(true)),
        (json!({"trusted": false}), Some(false)),
        (json!({"trusted": null}), None),
        (json!({"trusted": "yes"}), None),
        (json!({}), None),
        (json!(null), None),
        (json!([true]), None),
    ] {
        assert_eq!(config::editor_trusts_folder(&settings), expected, "{settings}");
    }
}

//! Capabilities: reads the client's and declares the server's.

use text::PositionEncoding;
use tower_lsp_server::gen_lsp_types::{
    ChangeNotifications, ClientCapabilities, CodeLensOptions, ExecuteCommandOptions, FileOperationFilter,
    FileOperationOptions, FileOperationPattern, FileOperationRegistrationOptions, InlineCompletionProvider,
    PositionEncodingKind, ServerCapabilities, TextDocumentContent, TextDocumentContentOptions,
    TextDocumentSync, TextDocumentSyncKind, TextDocumentSyncOptions, WorkspaceFoldersServerCapabilities,
    WorkspaceOptions,
};

use crate::{ext, to_proto};

/// The relevant capabilities of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientFeatures {
    /// Supports `workspace/configuration`.
    pub(crate) configuration: bool,
    /// Shows progress started by the server.
    pub(crate) progress: bool,
    /// Requests code lenses again when asked to.
    pub(crate) lens_refresh: bool,
    /// Watches files for the server.
    pub(crate) file_watching: bool,
    /// Shows documents whose text the server provides.
    pub(crate) text_document_content: bool,
}

impl ClientFeatures {
    pub(crate) fn new(client: &ClientCapabilities) -> ClientFeatures {
        let workspace = client.workspace.as_ref();
        let lens = workspace.and_then(|workspace| workspace.code_lens.as_ref());
        let watching = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        let window = client.window.as_ref();
        let is_set = |flag: Option<bool>| flag == Some(true);
        ClientFeatures {
            configuration: is_set(workspace.and_then(|workspace| workspace.configuration)),
            progress: is_set(window.and_then(|window| window.work_done_progress)),
            lens_refresh: is_set(lens.and_then(|lens| lens.refresh_support)),
            text_document_content: workspace
                .is_some_and(|workspace| workspace.text_document_content.is_some()),
            file_watching: is_set(watching.and_then(|watching| watching.dynamic_registration)),
        }
    }
}

/// Negotiates the position encoding: UTF-8 if the client supports it, since it is ours; otherwise the client's first choice that
/// is supported, otherwise UTF-16, which every client must support.
pub(crate) fn negotiate_encoding(client: &ClientCapabilities) -> PositionEncoding {
    let offered = client.general.as_ref().and_then(|general| general.position_encodings.as_deref());
    let known = |kind: &PositionEncodingKind| match kind {
        PositionEncodingKind::UTF8 => Some(PositionEncoding::Utf8),
        PositionEncodingKind::UTF16 => Some(PositionEncoding::Utf16),
        PositionEncodingKind::UTF32 => Some(PositionEncoding::Utf32),
        PositionEncodingKind::Custom(_) => None,
    };
    let offered: Vec<PositionEncoding> = offered.unwrap_or_default().iter().filter_map(known).collect();
    let has_utf8 = offered.contains(&PositionEncoding::Utf8);
    if has_utf8 {
        PositionEncoding::Utf8
    } else {
        offered.first().copied().unwrap_or(PositionEncoding::Utf16)
    }
}

/// Capabilities of this server.
pub(crate) fn server_capabilities(encoding: PositionEncoding) -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::Incremental),
        save: Some(true.into()),
        ..TextDocumentSyncOptions::default()
    };
    let folders = WorkspaceFoldersServerCapabilities {
        supported: Some(true),
        change_notifications: Some(ChangeNotifications::Bool(true)),
    };
    // Cases may be recorded in any file, and folders are renamed too.
    let everything = FileOperationRegistrationOptions {
        filters: vec![FileOperationFilter {
            scheme: Some("file".to_owned()),
            pattern: FileOperationPattern { glob: "**/*".to_owned(), matches: None, options: None },
        }],
    };
    let commands = [
        ext::DID_ACCEPT_COMMAND,
        ext::RECORD_CASE_COMMAND,
        ext::REPLAY_COMMAND,
        ext::SHOULD_HAVE_SUGGESTED_COMMAND,
        ext::NOT_WANTED_COMMAND,
        ext::OPEN_SUITE_COMMAND,
    ];
    ServerCapabilities {
        position_encoding: Some(to_proto::encoding(encoding)),
        text_document_sync: Some(TextDocumentSync::Options(sync)),
        inline_completion_provider: Some(InlineCompletionProvider::Bool(true)),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(false),
            ..CodeLensOptions::default()
        }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: commands.map(str::to_owned).to_vec(),
            ..ExecuteCommandOptions::default()
        }),
        workspace: Some(WorkspaceOptions {
            workspace_folders: Some(folders),
            text_document_content: Some(TextDocumentContent::Options(TextDocumentContentOptions {
                schemes: vec![ext::SUITE_SCHEME.to_owned()],
            })),
            file_operations: Some(FileOperationOptions {
                did_rename: Some(everything),
                ..FileOperationOptions::default()
            }),
        }),
        ..ServerCapabilities::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn server_capabilities_match_the_protocol_docs() {
        let document = include_str!("../../../docs/protocol.md");
        let (_, example) = document.split_once("\n```json initialize result\n").unwrap();
        let example = example.split("```").next().unwrap_or_default();
        let documented: Value = serde_json::from_str(example).unwrap();
        assert_eq!(documented, json!({ "capabilities": server_capabilities(PositionEncoding::Utf16) }));
    }
}

;; A user of Eglot: the configuration of docs/other-editors.md, then its commands, in a file with unsaved text.
;; The results are printed as JSON, a line for each.

(require 'eglot)

(defun test-print (name value)
  (princ (concat (json-serialize (list :name name :value value)) "\n")))

(setq native-comp-jit-compilation nil)
(setq eglot-sync-connect 60 python-indent-guess-indent-offset nil make-backup-files nil create-lockfiles nil)
(load (getenv "GHOSTBENCH_TEST_CONFIGURATION") nil t)
(find-file "a.py")
(call-interactively #'eglot)
(let ((server (eglot-current-server)))
  (test-print "inlineCompletion" (if (eglot-server-capable :inlineCompletionProvider) t :false))
  (test-print "commands" (plist-get (eglot-server-capable :executeCommandProvider) :commands))
  (goto-char (point-min))
  (search-forward "result = 0")
  (insert " + 1")
  (back-to-indentation)
  ;; A command returns its message.
  (test-print "recorded" (ghostbench-record))
  (test-print "again" (ghostbench-record))
  (test-print "replayed" (ghostbench-replay))
  (test-print "lenses" (jsonrpc-request server :textDocument/codeLens
                                        (list :textDocument (eglot--TextDocumentIdentifier))))
  (goto-char (point-min))
  (insert "# a comment\n")
  (goto-char (point-min))
  (test-print "refused" (condition-case failure
                            (progn (ghostbench-record) "recorded")
                          (error (error-message-string failure))))
  (save-buffer)
  (eglot-shutdown server)
  (test-print "is-running" (if (jsonrpc-running-p server) t :false)))

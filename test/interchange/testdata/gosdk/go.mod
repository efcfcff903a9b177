module ask

go 1.26.0

require github.com/pmenglund/codex-sdk-go v0.0.0-20260428055045-f99f57769522

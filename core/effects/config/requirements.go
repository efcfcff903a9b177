package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"appserver/core"
	"appserver/protocol"
)

// requirements are the rules of an administrator for all configurations of the machine: requirements.toml beside the
// system's file. The zero value requires nothing.
type requirements struct {
	file string
	// policies, sandboxes and searches are the allowed words, or nil for all.
	policies, sandboxes, searches []string
	// logins and workspaces are the allowed kinds of logins and workspaces of ChatGPT accounts, or nil for all.
	logins, workspaces []string
	rules              core.CommandRules
	// problem is the reason why no thread starts, or "".
	problem string
}

// withoutEffect are keys of requirements about things that this server does not have.
var withoutEffect = []string{
	"allow_managed_hooks_only", "apps", "plugins", "marketplaces", "computer_use", "browser_use", "in_app_browser",
	"application", "allow_remote_control", "allow_appshots", "allow_browser_and_computer_use",
	"guardian_policy_config", "guardian_extra_policy", "windows", "otel",
}

// requirementFiles are files of an administrator that this server does not read. Threads do not start beside them.
var requirementFiles = []string{"managed_config.toml"}

// ManagedPreferences are where macOS keeps the settings of an administrator.
const ManagedPreferences = "/Library/Managed Preferences/com.openai.codex.plist"

// readRequirements reads the requirements beside the system's file.
func readRequirements(system string) (r requirements, err error) {
	if system == "" {
		return r, nil
	}
	folder := filepath.Dir(system)
	for _, file := range []string{filepath.Join(folder, requirementFiles[0]), ManagedPreferences} {
		if exists(file) {
			r.problem = file + " is not read by this server, so no thread starts beside it: move its settings to " + system +
				" and requirements.toml, or use another program"
		}
	}
	r.file = filepath.Join(folder, "requirements.toml")
	l, err := readLayer(protocol.ConfigLayerSource{Type: protocol.LayerSystem, File: r.file}, r.file, "", decodeTOML)
	if err != nil {
		return r, err
	}
	for _, key := range sortedKeys(l.root.table) {
		if err := r.key(key, l.root.table[key]); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (r *requirements) key(key string, n *node) (err error) {
	switch key {
	case "allowed_approval_policies":
		r.policies, err = words(n, key)
	case "allowed_sandbox_modes":
		r.sandboxes, err = words(n, key)
	case "allowed_web_search_modes":
		r.searches, err = words(n, key)
	case "allowed_approvals_reviewers":
		err = r.includes(n, key, "user")
	case "allowed_login_methods":
		r.logins, err = words(n, key)
	case "allowed_chatgpt_workspaces":
		r.workspaces, err = words(n, key)
	case "rules":
		r.addRules(n)
	default:
		if !slices.Contains(withoutEffect, key) {
			r.refuse(n, key)
		}
	}
	return err
}

// refuse returns the error for a key that cannot be obeyed.
func (r *requirements) refuse(n *node, key string) {
	r.problem = fmt.Sprintf("%s: %s is a requirement that this server cannot obey, so no thread starts: remove it, or use "+
		"another program", n.position, key)
}

// includes requires that a list has the word for what this server does.
func (r *requirements) includes(n *node, key, word string) error {
	list, err := words(n, key)
	if err == nil && !slices.Contains(list, word) {
		r.refuse(n, key)
	}
	return err
}

// words returns the strings of a list. A table stands for the policy granular.
func words(n *node, key string) ([]string, error) {
	list, ok := n.plain().([]any)
	out := []string{}
	for _, element := range list {
		word, isText := element.(string)
		if table, isTable := element.(map[string]any); isTable && table["granular"] != nil {
			word, isText = protocol.ApprovalGranular, true
		}
		ok = ok && isText
		out = append(out, word)
	}
	if !ok {
		return nil, &Error{Position: n.position.String(), Key: key, Problem: "expected a list of words"}
	}
	return out, nil
}

// addRules adds [rules] prefix_rules. A rule that cannot be read is a requirement that cannot be obeyed.
func (r *requirements) addRules(n *node) {
	for _, key := range sortedKeys(n.table) {
		list, isList := n.table[key].plain().([]any)
		if key != "prefix_rules" || !isList {
			r.refuse(n, "rules."+key)
			continue
		}
		for _, row := range list {
			rule, ok := requiredRule(row)
			rule.Source = r.file
			if r.rules = append(r.rules, rule); !ok {
				r.refuse(n.table[key], "rules.prefix_rules")
			}
		}
	}
	if n.table == nil {
		r.refuse(n, "rules")
	}
}

func requiredRule(row any) (rule core.CommandRule, ok bool) {
	table, _ := row.(map[string]any)
	rule.Justification, _ = table["justification"].(string)
	switch table["decision"] {
	case "forbidden":
		rule.Decision = core.RuleForbids
	case "prompt":
		rule.Decision = core.RulePrompts
	default:
		return rule, false
	}
	tokens, _ := table["pattern"].([]any)
	for _, token := range tokens {
		alternatives, _ := token.(map[string]any)
		words, _ := alternatives["any_of"].([]any)
		if word, isText := alternatives["token"]; isText {
			words = append(words, word)
		}
		var texts []string
		for _, word := range words {
			text, isText := word.(string)
			if !isText || text == "" {
				return rule, false
			}
			texts = append(texts, text)
		}
		if len(texts) == 0 {
			return rule, false
		}
		rule.Pattern = append(rule.Pattern, texts)
	}
	return rule, len(rule.Pattern) > 0
}

// apply replaces configured values that the requirements do not allow, and returns warnings.
func (r *requirements) apply(
	sandbox *protocol.SandboxMode, policy *protocol.AskForApproval, search **string,
) (warnings []string) {
	if mode := string(*sandbox); !allowed(r.sandboxes, mode) && len(r.sandboxes) > 0 {
		*sandbox = protocol.SandboxMode(r.strictest())
		warnings = append(warnings, r.replaced("allowed_sandbox_modes", mode, string(*sandbox)))
	}
	replaceable := len(r.policies) > 0 && r.policies[0] != protocol.ApprovalGranular
	if mode := policy.Mode; !allowed(r.policies, mode) && replaceable {
		*policy = protocol.AskForApproval{Mode: r.policies[0]}
		warnings = append(warnings, r.replaced("allowed_approval_policies", mode, r.policies[0]))
	}
	mode := core.WebSearchCached
	if *search != nil {
		mode = **search
	}
	if !allowed(r.searches, mode) && mode != "disabled" {
		*search = new("disabled")
	}
	return warnings
}

func (r *requirements) replaced(key, configured, used string) string {
	return fmt.Sprintf("%s: %s does not permit %s, so threads use %s by default", r.file, key, configured, used)
}

// strictest returns the allowed sandbox mode that permits least.
func (r *requirements) strictest() string {
	for _, mode := range []string{"read-only", "workspace-write", "danger-full-access"} {
		if slices.Contains(r.sandboxes, mode) {
			return mode
		}
	}
	return r.sandboxes[0]
}

func allowed(words []string, word string) bool { return words == nil || slices.Contains(words, word) }

// permits returns an error if turns with a policy, or nil, and a sandbox are not permitted.
func (r *requirements) permits(policy *protocol.AskForApproval, sandbox protocol.SandboxPolicy) error {
	mode := sandbox.Stored().Type
	switch {
	case r.problem != "":
		return protocol.Refuse(protocol.KindConfig, "%s", r.problem)
	case policy != nil && !allowed(r.policies, policy.Mode):
		return r.rejects("allowed_approval_policies", r.policies, policy.Mode)
	case !allowed(r.sandboxes, mode):
		return r.rejects("allowed_sandbox_modes", r.sandboxes, mode)
	}
	return nil
}

func (r *requirements) rejects(key string, words []string, word string) error {
	return protocol.Refuse(protocol.KindConfig, "%s: %s does not permit %s: use one of %s", r.file, key, word,
		strings.Join(words, ", "))
}

package model

import (
	"net/http"

	"appserver/platform/pattern"
)

// missingModel matches the words of providers for a model that they do not have. The kinds are: the model is said not
// to be there; its name is said to be invalid; nothing is there for it.
var missingModel = pattern.AnyOf(
	`\b(model|models|deployment)\b.{0,200}?\b(not found|not exist|no such|is unknown|not available|not deployed|identifier is invalid|not a valid model)\b`,
	`\b(doesn'?t|don'?t|does not|cannot|can ?not|could not|can'?t|unable to) (find|have|access|serve|locate|load)( \w+){0,2} model`,
	`\b(unknown|invalid|no such|unrecognized|nonexistent) model\b`, `\bnot found (the )?model\b`,
	`\bnot a valid model\b`, `\bno endpoints found for\b`,
	`\bno (router|route|deployment|provider|channel)s? (found )?(for|available for)( \w+)? model`)

// isMissingModel reports whether a provider does not have the model of the request.
func (p *problem) isMissingModel(status int) bool {
	switch {
	case p.has("model_not_found", "modelnotfound", "deploymentnotfound"):
		return true
	case status == 0, status == http.StatusBadRequest, status == http.StatusForbidden, status == http.StatusNotFound,
		status == http.StatusUnprocessableEntity:
		return missingModel().MatchString(p.text) || p.has("not_found_error") && anthropicModel().MatchString(p.text)
	}
	return false
}

// anthropicModel matches the message of Anthropic, which is the name only.
var anthropicModel = pattern.New(`^model: \S+$`)

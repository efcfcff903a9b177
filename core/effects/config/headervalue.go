package config

import (
	"fmt"
	"strings"
)

// headerValue returns the value of an environment variable for a header, or "". Line ends and blanks around it do not
// count. The error names the variable and never the value.
func (c *Config) headerValue(variable string) (string, error) {
	value := strings.TrimSpace(c.getenv(variable))
	if strings.ContainsFunc(value, isControl) {
		return "", fmt.Errorf("the environment variable %s has a line end or another control character within its value, "+
			"which a header cannot have; set it to one line", variable)
	}
	return value, nil
}

// token does the same as headerValue, for a key or token. It rejects quotes around it: files of
// variables that no shell reads pass them on.
func (c *Config) token(variable string) (string, error) {
	value, err := c.headerValue(variable)
	switch {
	case err != nil:
		return "", err
	case strings.ContainsAny(value, "\"'`"):
		return "", fmt.Errorf("the environment variable %s has quotes in its value; set it to the key without quotes",
			variable)
	case strings.ContainsFunc(value, func(r rune) bool { return r >= 0x7F }):
		return "", fmt.Errorf("the environment variable %s has characters in its value that no key has; set it to the key",
			variable)
	}
	return value, nil
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7F }

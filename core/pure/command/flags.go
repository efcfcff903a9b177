package command

import (
	"slices"
	"strings"
)

// flag is an option of a call, -x or --long, with its value or an empty one.
type flag struct{ name, value string }

// arguments are the arguments of a call, split by the rules of getopt.
type arguments struct {
	flags    []flag
	operands []string
}

// has reports whether any of the flags is given.
func (a arguments) has(names ...string) bool {
	return slices.ContainsFunc(a.flags, func(f flag) bool { return slices.Contains(names, f.name) })
}

// value returns the value of the first of the flags that is given.
func (a arguments) value(names ...string) (string, bool) {
	for _, f := range a.flags {
		if slices.Contains(names, f.name) {
			return f.value, true
		}
	}
	return "", false
}

// getopt splits arguments into flags and operands. Valued lists the flags whose value is the next
// argument, separated by spaces.
func getopt(args []string, valued string) arguments {
	takes := strings.Fields(valued)
	var found arguments
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			found.operands = append(found.operands, args...)
			return found
		case strings.HasPrefix(arg, "--"):
			args = found.long(arg, args, takes)
		case len(arg) > 1 && arg[0] == '-':
			args = found.short(arg[1:], args, takes)
		default:
			found.operands = append(found.operands, arg)
		}
	}
	return found
}

// long adds a flag --name or --name=value and returns the remaining arguments.
func (a *arguments) long(arg string, rest, takes []string) []string {
	name, value, given := strings.Cut(arg, "=")
	if !given && len(rest) > 0 && slices.Contains(takes, name) {
		value, rest = rest[0], rest[1:]
	}
	a.flags = append(a.flags, flag{name, value})
	return rest
}

// short adds the flags of a cluster like -rn or -n5 and returns the remaining arguments.
func (a *arguments) short(cluster string, rest, takes []string) []string {
	for i := range len(cluster) {
		name := "-" + cluster[i:i+1]
		if !slices.Contains(takes, name) {
			a.flags = append(a.flags, flag{name: name})
			continue
		}
		value := cluster[i+1:]
		if value == "" && len(rest) > 0 {
			value, rest = rest[0], rest[1:]
		}
		a.flags = append(a.flags, flag{name, value})
		break
	}
	return rest
}

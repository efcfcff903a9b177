package house

import (
	"fmt"
	"go/ast"
	"slices"
)

// turnMachine is the file with the states of a turn.
const turnMachine = "core/turnmachine.go"

// findTurnStates finds code of package core that decides by nil pointers which state a turn has, or that changes the
// state, outside of the file with the states.
func findTurnStates(t *houseTree) (findings []string) {
	for _, s := range t.product() {
		if s.pkg() != "core" || s.path == turnMachine {
			continue
		}
		ast.Inspect(s.File, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.BinaryExpr:
				if name := fieldOf(n.X, "active", "outcome"); name != "" && exprName(n.Y) == "nil" {
					findings = append(findings, fmt.Sprintf("%s: %s is compared with nil: use a predicate of %s, such as isIdle or "+
						"isEnding", s.at(n), name, turnMachine))
				}
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					if name := fieldOf(left, "active", "outcome", "request", "retry", "compaction"); name != "" && s.isTurnOf(left) {
						findings = append(findings, fmt.Sprintf("%s: %s is assigned: call a become function of %s", s.at(n), name,
							turnMachine))
					}
				}
			}
			return true
		})
	}
	return findings
}

// isTurnOf reports whether an expression is a field of a turn, by the names under which the code has turns and threads.
// Calls and drafts have fields of the same names.
func (s *houseSource) isTurnOf(e ast.Expr) bool {
	owner := e.(*ast.SelectorExpr).X
	return slices.Contains([]string{"s", "t", "active"}, exprName(owner)) || fieldOf(owner, "active") != ""
}

// fieldOf returns the name of a selected field if it is one of the names, or "".
func fieldOf(e ast.Expr, names ...string) string {
	if f, ok := e.(*ast.SelectorExpr); ok && slices.Contains(names, f.Sel.Name) {
		return f.Sel.Name
	}
	return ""
}

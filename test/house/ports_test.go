package house

import (
	"fmt"
	"go/ast"
	"strings"
)

// maxPortMethods is the maximum number of methods of a port whose comment gives no reason for more.
const maxPortMethods = 3

// findWidePorts finds ports of the engine with many methods. A port is an interface that a package of the engine
// declares. Its comment gives the reason for more methods after the word "because".
func findWidePorts(t *houseTree) (findings []string) {
	ports := portsOf(t)
	for _, p := range ports {
		n := p.methods(ports, map[string]bool{})
		if n > maxPortMethods && !strings.Contains(p.doc, "because") {
			findings = append(findings, fmt.Sprintf(
				"%s: the port %s has %d methods, more than %d: split it by purpose, or say why it is wide: ... because ...",
				p.at, p.name, n, maxPortMethods))
		}
	}
	return findings
}

// port is an interface of a package of the engine.
type port struct {
	pkg, name, at, doc string
	fields             []*ast.Field
}

func portsOf(t *houseTree) (ports []port) {
	for _, s := range t.product() {
		if floorOf(s.pkg()).name != "engine" {
			continue
		}
		ast.Inspect(s.File, func(node ast.Node) bool {
			d, ok := node.(*ast.GenDecl)
			if !ok {
				return true
			}
			for _, spec := range d.Specs {
				of, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if i, ok := of.Type.(*ast.InterfaceType); ok {
					doc := d.Doc.Text() + of.Doc.Text()
					ports = append(ports, port{s.pkg(), of.Name.Name, s.at(of), doc, i.Methods.List})
				}
			}
			return true
		})
	}
	return ports
}

// methods counts the methods of a port, with those of embedded ports of its package. Another embedded interface counts
// as one method.
func (p port) methods(all []port, counted map[string]bool) (n int) {
	counted[p.name] = true
	for _, f := range p.fields {
		name, isName := f.Type.(*ast.Ident)
		embedded := false
		for _, other := range all {
			if len(f.Names) == 0 && isName && other.pkg == p.pkg && other.name == name.Name {
				embedded = true
				if !counted[other.name] {
					n += other.methods(all, counted)
				}
			}
		}
		if !embedded {
			n += max(1, len(f.Names))
		}
	}
	return n
}

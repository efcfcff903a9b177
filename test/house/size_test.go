package house

import (
	"fmt"
	"go/ast"
	"slices"
)

// Size limits of hand-written code without tests, in lines.
const (
	functionP95 = 50
	functionMax = 80
	fileP95     = 400
	fileMax     = 600
)

// sized is a function or file with its number of lines.
type sized struct {
	name  string
	lines int
}

type sizes []sized

// functionSizes returns the functions of the product, except empty ones and tables.
func functionSizes(t *houseTree) (list sizes) {
	for _, s := range t.product() {
		for _, f := range s.functions() {
			if f.Body != nil && len(f.Body.List) > 0 && !isTable(f.Body) {
				list = append(list, sized{s.at(f) + " " + f.Name.Name, s.span(f)})
			}
		}
	}
	return list
}

// isTable reports whether a function only returns a literal.
func isTable(body *ast.BlockStmt) bool {
	if len(body.List) != 1 {
		return false
	}
	ret, ok := body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return false
	}
	_, literal := ret.Results[0].(*ast.CompositeLit)
	return literal
}

func fileSizes(t *houseTree) (list sizes) {
	for _, s := range t.product() {
		list = append(list, sized{s.path, s.lines()})
	}
	return list
}

// percentile returns the size that p per cent of the list do not exceed, or 0 for an empty list.
func (list sizes) percentile(p int) int {
	if len(list) == 0 {
		return 0
	}
	lines := make([]int, len(list))
	for i, s := range list {
		lines[i] = s.lines
	}
	slices.Sort(lines)
	return lines[max((len(lines)*p+99)/100-1, 0)]
}

// over returns findings for the sizes above the limit, the largest first.
func (list sizes) over(limit int, cure string) (findings []string) {
	slices.SortFunc(list, func(a, b sized) int { return b.lines - a.lines })
	for _, s := range list {
		if s.lines > limit {
			findings = append(findings, fmt.Sprintf("%s has %d lines, more than %d: %s", s.name, s.lines, limit, cure))
		}
	}
	return findings
}

func findLongFunctions(t *houseTree) []string {
	list := functionSizes(t)
	findings := list.over(functionMax, "split it")
	if p := list.percentile(95); p > functionP95 {
		findings = append(findings, fmt.Sprintf("5 %% of the functions have at least %d lines; the limit is %d", p, functionP95))
	}
	return findings
}

func findLongFiles(t *houseTree) []string {
	list := fileSizes(t)
	findings := list.over(fileMax, "move a part of its state to a new owner")
	if p := list.percentile(95); p > fileP95 {
		findings = append(findings, fmt.Sprintf("5 %% of the files have at least %d lines; the limit is %d", p, fileP95))
	}
	return findings
}

// lineCounts returns the lines of hand-written Go in the program and in its tests.
func lineCounts(t *houseTree) (product, tests int) {
	for _, s := range t.sources {
		switch {
		case ast.IsGenerated(s.File):
		case s.isTest():
			tests += s.lines()
		default:
			product += s.lines()
		}
	}
	return product, tests
}

// figures returns measurements for the test log.
func (t *houseTree) figures() []string {
	functions, files := functionSizes(t), fileSizes(t)
	scriptFunctions, scripts := scriptFunctionSizes(t), scriptFileSizes(t)
	product, tests := lineCounts(t)
	all, bare := exportedNames(t)
	starts := 0
	for _, s := range t.product() {
		starts += s.goroutines()
	}
	return []string{
		fmt.Sprintf("functions: %d; lines: median %d, p95 %d, most %d",
			len(functions), functions.percentile(50), functions.percentile(95), functions.percentile(100)),
		fmt.Sprintf("files: %d; lines: median %d, p95 %d, most %d",
			len(files), files.percentile(50), files.percentile(95), files.percentile(100)),
		fmt.Sprintf("functions of TypeScript: %d; lines: median %d, p95 %d, most %d", len(scriptFunctions),
			scriptFunctions.percentile(50), scriptFunctions.percentile(95), scriptFunctions.percentile(100)),
		fmt.Sprintf("files of TypeScript: %d; lines: median %d, p95 %d, most %d",
			len(scripts), scripts.percentile(50), scripts.percentile(95), scripts.percentile(100)),
		fmt.Sprintf("lines: product %d, tests %d", product, tests),
		fmt.Sprintf("exported identifiers: %d, %d without a doc comment", len(all), len(bare)),
		fmt.Sprintf("places that start goroutines: %d, %.1f per 1,000 lines", starts, perThousand(starts, product)),
	}
}

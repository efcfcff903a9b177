// Command release builds the program for each target, and packs it for those who install it: archives,
// Debian packages, npm packages and a Homebrew formula, with a list of components and the texts of their
// licences. make release runs it. docs/adr/015-releases.md has the reasons for its form.
//
// Equal commits give equal files: names are sorted, and every time is the time of the commit.
//
//	go run ./deploy/release -targets "linux/amd64 darwin/arm64" -out FOLDER
//	go run ./deploy/release -sbom FILE PROGRAM
//
// With -sbom, it only lists the components of a program that is built already.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// release is one version of the program.
type release struct {
	// root is the folder of the repository, out the folder of the results.
	root, out string
	version   string
	// time is the time of every file.
	time time.Time
	publisher
	extras
}

// publisher has the names under which a release is published.
type publisher struct {
	// homepage is the address of the repository. The formula downloads from homepage/releases/download/vVERSION.
	homepage string
	// maintainer is the contact in the Debian package: NAME <MAIL>.
	maintainer string
	// npm is the name of the main npm package. Names of platform packages begin with it.
	npm string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	r := release{root: "."}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	list := flags.String("targets", "linux/amd64", "the `LIST` of systems and processors, as GOOS/GOARCH")
	excluded := flags.String("exclude", "", "the `LIST` of targets to leave out")
	sbom := flags.String("sbom", "", "only list the components of a program in `FILE`")
	flags.StringVar(&r.version, "version", "", "the `VERSION`; empty means the tag of the commit")
	flags.StringVar(&r.out, "out", filepath.Join("bin", "release"), "write to `FOLDER`, which is replaced")
	flags.StringVar(&r.homepage, "homepage", "https://example.org/appserver", "the `ADDRESS` of the repository")
	flags.StringVar(&r.maintainer, "maintainer", "The appserver authors <appserver@example.org>", "`NAME <MAIL>`")
	flags.StringVar(&r.npm, "npm", "appserver", "the `NAME` of the npm package")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := r.readCommit(ctx); err != nil {
		return err
	}
	if *sbom != "" {
		return r.writeComponents(ctx, flags.Arg(0), *sbom)
	}
	targets, err := parseTargets(*list, *excluded)
	if err != nil {
		return err
	}
	return r.make(ctx, targets)
}

// make builds all targets before it packs the first, so that a target that does not build costs little time.
func (r *release) make(ctx context.Context, targets []target) error {
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	built, err := os.MkdirTemp("", "appserver-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(built)
	var failures []error
	for _, t := range targets {
		fmt.Println("build", t)
		if err := r.build(ctx, t, filepath.Join(built, t.id())); err != nil {
			failures = append(failures, err)
		}
	}
	if len(failures) > 0 {
		return fmt.Errorf("%w\nnothing was packed: repair these targets, or leave them out with EXCLUDE",
			errors.Join(failures...))
	}
	if err := r.readExtras(ctx, built); err != nil {
		return fmt.Errorf("the manual page and the completions: %w", err)
	}
	for _, t := range targets {
		program := filepath.Join(built, t.id())
		components, err := r.componentsOf(ctx, program)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		if err := r.pack(ctx, t, program, components); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if err := r.packExtension(ctx, "appserver_"+r.version+".vsix"); err != nil {
		return err
	}
	return r.finish(targets)
}

// pack writes the files of one target.
func (r *release) pack(ctx context.Context, t target, program string, components []component) error {
	fmt.Println("pack", t)
	binary, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	sbom, err := r.sbom(components)
	if err != nil {
		return err
	}
	papers, err := r.papers(sbom, components)
	if err != nil {
		return err
	}
	executable := file{t.executable(), 0o755, binary}
	if err := r.writeArchive(t, r.archived(t, executable, papers)); err != nil {
		return err
	}
	if err := r.writePlatformPackage(t, executable, papers); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, r.nameFor(t)+".cdx.json"), sbom, 0o644); err != nil {
		return err
	}
	if err := r.writeExtension(ctx, t, executable, papers); err != nil {
		return err
	}
	if t.system == "linux" {
		return r.writeDebian(ctx, t, program, papers)
	}
	return nil
}

// papers returns the documents that accompany each program.
func (r *release) papers(sbom []byte, components []component) ([]file, error) {
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	changelog, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	return []file{{"CHANGELOG.md", 0o644, changelog}, {"LICENSE", 0o644, licence},
		{"LICENCES.txt", 0o644, licenceTexts(components)}, {"sbom.cdx.json", 0o644, sbom}}, nil
}

// finish writes the files that all targets share. The checksums are last.
func (r *release) finish(targets []target) error {
	if err := r.writeMainPackage(targets); err != nil {
		return err
	}
	containerfile, err := os.ReadFile(filepath.Join(r.root, "deploy", "Containerfile"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, "Containerfile"), containerfile, 0o644); err != nil {
		return err
	}
	sums, err := checksums(r.out)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, "appserver.rb"), r.formula(sums), 0o644); err != nil {
		return err
	}
	return writeChecksums(r.out)
}

func (r *release) nameFor(t target) string {
	return strings.Join([]string{"appserver", r.version, t.system, t.processor}, "_")
}

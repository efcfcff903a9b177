package main

import (
	"bytes"
	"fmt"
)

// formula returns the Homebrew formula, which installs the archives of macOS and Linux.
func (r *release) formula(sums map[string]string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `class Appserver < Formula
  desc "Coding-agent server in the Codex app-server protocol"
  homepage %q
  version %q
  license "MIT"

`, r.homepage, r.version)
	for _, system := range [][2]string{{"darwin", "on_macos"}, {"linux", "on_linux"}} {
		archives := ""
		for _, processor := range [][2]string{{"arm64", "on_arm"}, {"amd64", "on_intel"}} {
			name := r.archiveName(target{system[0], processor[0]})
			if sum := sums[name]; sum != "" {
				archives += fmt.Sprintf("    %s do\n      url %q\n      sha256 %q\n    end\n", processor[1],
					r.homepage+"/releases/download/v"+r.version+"/"+name, sum)
			}
		}
		if archives != "" {
			fmt.Fprintf(&b, "  %s do\n%s  end\n\n", system[1], archives)
		}
	}
	b.WriteString(`  def install
    bin.install "appserver"
    man1.install "appserver.1"
    generate_completions_from_executable(bin/"appserver", "completion", shells: [:bash, :zsh, :fish])
    doc.install "CHANGELOG.md", "LICENCES.txt", "sbom.cdx.json"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/appserver version")
  end
end
`)
	return b.Bytes()
}

# Loads a Homebrew formula without Homebrew, and prints its facts and the files that it installs as JSON.
require "json"

FACTS = { version: nil, urls: [], sums: [], installed: [] }

class Folder
  def install(*names) = FACTS[:installed].concat(names)
  def /(_name) = self
end

class Formula
  class << self
    def desc(_) = nil
    def homepage(_) = nil
    def license(_) = nil
    def version(text) = FACTS[:version] = text
    def url(address) = FACTS[:urls] << address
    def sha256(sum) = FACTS[:sums] << sum
    def test = nil
    %i[on_macos on_linux on_arm on_intel].each { |name| define_method(name) { |&part| part.call } }
  end

  def bin = Folder.new
  def doc = Folder.new
  def man1 = Folder.new
  def generate_completions_from_executable(*) = nil
end

load ARGV.fetch(0)
Appserver.new.install
raise "addresses and checksums differ in number" if FACTS[:urls].length != FACTS[:sums].length
puts JSON.generate(FACTS)

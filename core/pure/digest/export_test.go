package digest

// Empty reports whether there are no facts.
func (f Facts) Empty() bool {
	return len(f.FilesChanged)+len(f.CommandsRun)+len(f.Decisions)+len(f.OpenQuestions)+len(f.UserConstraints) == 0
}

package tool

// Program is a program that communicates through its standard input and output. Env is its whole
// environment.
type Program struct {
	Argv []string
	Dir  string
	Env  []string
	// Stderr gets its standard error, line by line and bounded; it must not block for long.
	Stderr func(line string)
}

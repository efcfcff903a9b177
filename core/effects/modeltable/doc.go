// Package modeltable has windows, abilities and prices of models that hosted providers serve. models.tsv is made by
// make models from the data of https://models.dev, and names its date and its licence.
//
// # Names
//
// A row is found by the address of the provider and the name of the model in requests. Upper case counts as lower case,
// and a dot or @ as a dash. The first of these names that has a row counts:
//
//  1. the name, without the prefix models/ of Google;
//  2. the name without a date or -latest at its end: gpt-5-2025-08-07, claude-opus-4-20250514, claude-opus-4@20250514;
//  3. the name with a date at its end, the latest one.
//
// If the provider has no row for the name, the row of the model's maker counts, without its prices, because they are
// those of another provider. The maker is named by a prefix, as in openai/gpt-5. A name without a prefix can be that
// of any maker. A name with another prefix, such as me/gpt-5, has no row.
//
// # Decisions
//
// The file is a text, so that a change can be reviewed. The program has it compressed, and reads it when a model is
// looked up for the first time. Rows by prefixes of names were rejected: a new model has often another window than
// its predecessor, and a wrong window costs turns.
package modeltable

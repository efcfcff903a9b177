package cli

import (
	"fmt"
	"text/tabwriter"
	"time"

	"appserver/server/web"
)

// listDevices prints the remembered browsers.
func (c *pageCall) listDevices() error {
	list, err := web.Devices(c.home)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.Out, "No browser is remembered.")
		return err
	}
	table := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tPAGE\tREMEMBERED\tLAST USED") // Flush returns the error
	for _, d := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", d.ID, d.Name, d.Origin, day(d.Created), day(d.LastUsed))
	}
	return table.Flush()
}

func day(seconds int64) string { return time.Unix(seconds, 0).Format("2006-01-02 15:04") }

// forgetDevices revokes remembered browsers. Running servers notice it themselves.
func (c *pageCall) forgetDevices() error {
	forgotten, err := web.Forget(c.home, c.forget)
	if err != nil {
		return err
	}
	for _, d := range forgotten {
		if _, err := fmt.Fprintf(c.Out, "forgotten: %s  %s  %s\n", d.ID, d.Name, d.Origin); err != nil {
			return err
		}
	}
	note := "Their pages are disconnected within seconds. A ticket lets them in again."
	if len(forgotten) == 0 {
		note = "No browser was remembered."
	}
	_, err = fmt.Fprintln(c.Out, note)
	return err
}

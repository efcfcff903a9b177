package workspace

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestZoneName(t *testing.T) {
	for _, tt := range []struct{ chosen, link, text, want string }{
		{"Europe/Berlin", "/usr/share/zoneinfo/UTC", "", "Europe/Berlin"},
		{"Local", "/usr/share/zoneinfo/America/New_York", "Asia/Tokyo\n", "America/New_York"},
		{"Local", "../usr/share/zoneinfo/posix/Asia/Tokyo", "", "Asia/Tokyo"},
		{"Local", "/var/db/timezone/zoneinfo/Europe/Rome", "", "Europe/Rome"},
		{"Local", "", "Asia/Tokyo\n", "Asia/Tokyo"},
		{"Local", "/etc/own-file", "Asia/Tokyo", "Asia/Tokyo"},
		{"/usr/share/zoneinfo/Europe/Paris", "", "", "Europe/Paris"},
		{"UTC", "", "", "UTC"},
		{"Local", "", "", "UTC"},
		{"", "../elsewhere", " \n", "UTC"},
	} {
		require.Equal(t, tt.want, zoneName(tt.chosen, tt.link, func() string { return tt.text }), "%+v", tt)
	}
}

func TestZoneIsOneThatCanBeLoaded(t *testing.T) {
	location, err := time.LoadLocation(localZone())
	require.NoError(t, err)
	now := time.Now()
	_, want := now.Zone()
	_, got := now.In(location).Zone()
	require.Equal(t, want, got, "the same offset as the local time")
}

func TestToday(t *testing.T) {
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)
	date, zone := Today(at.UTC())
	require.Equal(t, "2026-01-02", date)
	require.Equal(t, localZone(), zone)
}

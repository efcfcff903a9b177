package web

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"appserver/platform/disk"
	"appserver/platform/osfile"
	"appserver/protocol"
)

const (
	// maxDevices is the maximum number of devices. A further one replaces the one that was used least recently.
	maxDevices = 32
	// deviceLife is the time after which a device is forgotten that is not used.
	deviceLife = 90 * 24 * time.Hour
	// touchInterval is the precision of Device.LastUsed.
	touchInterval = time.Hour
	// maxDevicesBytes is the maximum length of the file of devices.
	maxDevicesBytes = 64 << 10
	// maxNameLength is the maximum length of the name of a device, in characters.
	maxNameLength = 64
	// othersWrite are the permissions that let other users add devices.
	othersWrite = 0o022
	// allDevices is the name of all devices together.
	allDevices = "all"
)

// Device is a browser that opens the page without a ticket.
type Device struct {
	// ID is made of the key.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Origin is the address of the page for which the browser has the key.
	Origin string `json:"origin"`
	// Key is the public key of the browser.
	Key string `json:"key"`
	// Created and LastUsed are times in seconds since 1970.
	Created  int64 `json:"created"`
	LastUsed int64 `json:"lastUsed"`
}

// deviceList is the content of the file of devices.
type deviceList struct {
	Devices []Device `json:"devices"`
}

// devices are the remembered browsers of a home. All servers and commands of the home share the file.
type devices struct{ home string }

func (d devices) path() string { return filepath.Join(dir(d.home), "devices.json") }

// Devices returns the remembered browsers of a home. The error states why servers cannot admit them.
func Devices(home string) ([]Device, error) {
	d := devices{home}
	list, err := d.read(time.Now())
	if err == nil {
		_, err = d.serverKey()
	}
	return list, err
}

// Forget revokes the devices with an id or a name, or all. It returns the revoked ones. Running servers end their
// sessions at the next request, or after revocationInterval.
func Forget(home, what string) (forgotten []Device, err error) {
	d := devices{home}
	if what == allDevices {
		forgotten, _ = d.read(time.Now()) // a damaged file is replaced as well
		return forgotten, d.locked(func() error { return d.write(nil) })
	}
	err = d.update(time.Now(), func(list []Device) ([]Device, error) {
		forgotten = slices.DeleteFunc(slices.Clone(list), func(x Device) bool { return x.ID != what && x.Name != what })
		if len(forgotten) == 0 {
			return nil, fmt.Errorf("no browser has the id or the name %q: appserver web --devices lists them", what)
		}
		return slices.DeleteFunc(list, func(x Device) bool { return x.ID == what || x.Name == what }), nil
	})
	return forgotten, err
}

// read returns the devices that are not expired. A missing file has none.
func (d devices) read(now time.Time) ([]Device, error) {
	content, err := d.content()
	if err != nil || content == nil {
		return nil, err
	}
	var list deviceList
	if err := protocol.Unmarshal(content, &list); err != nil {
		return nil, d.damaged("it is not valid JSON")
	}
	if len(list.Devices) > maxDevices {
		return nil, d.damaged(fmt.Sprintf("it has more than %d devices", maxDevices))
	}
	for _, x := range list.Devices {
		if err := x.validate(); err != nil {
			return nil, d.damaged(err.Error())
		}
	}
	return slices.DeleteFunc(list.Devices, func(x Device) bool {
		return now.Sub(time.Unix(x.LastUsed, 0)) > deviceLife
	}), nil
}

// content returns the content of the file, or nil if it is missing.
func (d devices) content() ([]byte, error) {
	info, err := os.Lstat(d.path())
	switch {
	case disk.IsNotExist(err):
		return nil, nil
	case err != nil:
		return nil, disk.Wrap("read", d.path(), err)
	case !info.Mode().IsRegular():
		return nil, d.damaged("it is not a regular file")
	case runtime.GOOS != "windows" && info.Mode().Perm()&othersWrite != 0:
		return nil, d.damaged("other users can write it")
	case info.Size() > maxDevicesBytes:
		return nil, d.damaged(fmt.Sprintf("it has more than %d bytes", maxDevicesBytes))
	}
	content, err := osfile.ReadRegular(d.path(), osfile.Bounds{Max: maxDevicesBytes})
	if err != nil {
		return nil, disk.Wrap("read", d.path(), err)
	}
	return content, nil
}

// damagedError is the error of a file of devices that nothing of this program has written.
type damagedError struct{ path, cause string }

func (e *damagedError) Error() string {
	return fmt.Sprintf("the file of remembered browsers %s is damaged: %s; appserver web --forget all replaces it", e.path, e.cause)
}

func (d devices) damaged(cause string) error { return &damagedError{d.path(), cause} }

func (x Device) validate() error {
	if _, err := parseKey(x.Key); err != nil {
		return err
	}
	at, found := strings.CutPrefix(x.Origin, "http://")
	switch {
	case x.ID != deviceID(x.Key):
		return errors.New("the id of a device is not that of its key")
	case !isName(x.Name):
		return errors.New("a device has an invalid name")
	case !found || at == "" || strings.Trim(at, "0123456789abcdef.:[]") != "":
		return errors.New("a device has an invalid origin")
	}
	return nil
}

// isName reports whether a text can be the name of a device. Terminals and the page print it as it is.
func isName(text string) bool {
	return text != "" && text != allDevices && strings.TrimSpace(text) == text && utf8.ValidString(text) &&
		utf8.RuneCountInString(text) <= maxNameLength &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsMark(r) })
}

// locked runs a function while no other server or command changes the file.
func (d devices) locked(do func() error) error {
	if err := os.MkdirAll(dir(d.home), disk.DirMode); err != nil {
		return disk.Wrap("create", dir(d.home), err)
	}
	lock, err := disk.LockWait(disk.OS(), d.path()+".lock", disk.Exclusive)
	if err != nil {
		return err
	}
	return errors.Join(do(), lock.Close())
}

// update replaces the list. The file is unchanged after an error.
func (d devices) update(now time.Time, change func([]Device) ([]Device, error)) error {
	return d.locked(func() error {
		list, err := d.read(now)
		if err != nil {
			return err
		}
		if list, err = change(list); err != nil {
			return err
		}
		return d.write(list)
	})
}

// write replaces the file. It must be locked.
func (d devices) write(list []Device) error {
	content, err := protocol.Marshal(deviceList{append([]Device{}, list...)})
	if err != nil {
		return err
	}
	return disk.Wrap("write", d.path(), disk.Replace(disk.OS(), d.path(), append(content, '\n')))
}

// add remembers a key, or uses it again. It returns the device, and whether it is new.
func (d devices) add(now time.Time, name, origin, key string) (added Device, isNew bool, err error) {
	err = d.update(now, func(list []Device) ([]Device, error) {
		if at := slices.IndexFunc(list, func(x Device) bool { return x.Key == key }); at >= 0 {
			list[at].LastUsed, list[at].Origin = now.Unix(), origin
			added = list[at]
			return list, nil
		}
		if len(list) >= maxDevices {
			oldest := slices.MinFunc(list, func(a, b Device) int { return int(min(max(a.LastUsed-b.LastUsed, -1), 1)) })
			list = slices.DeleteFunc(list, func(x Device) bool { return x.ID == oldest.ID })
		}
		added = Device{deviceID(key), uniqueName(list, name), origin, key, now.Unix(), now.Unix()}
		isNew = true
		return append(list, added), nil
	})
	return added, isNew, err
}

// uniqueName returns the name with a number if a device has it already.
func uniqueName(list []Device, name string) string {
	unique := name
	for n := 2; slices.ContainsFunc(list, func(x Device) bool { return x.Name == unique }); n++ {
		unique = fmt.Sprintf("%.*s %d", maxNameLength-4, name, n) // %.*s counts characters
	}
	return unique
}

// touch stores the time of the last use. A failure is no reason to refuse the use.
func (d devices) touch(now time.Time, used Device) {
	if now.Sub(time.Unix(used.LastUsed, 0)) < touchInterval {
		return
	}
	_ = d.update(now, func(list []Device) ([]Device, error) {
		for i := range list {
			if list[i].ID == used.ID {
				list[i].LastUsed = now.Unix()
			}
		}
		return list, nil
	})
}

// revoked returns the devices that the file does not have, or all if it is damaged. If it cannot be read at the moment,
// none is revoked.
func (d devices) revoked(used map[string]bool) map[string]bool {
	list, err := d.read(time.Now())
	if damaged := new(damagedError); err != nil && !errors.As(err, &damaged) {
		return nil
	}
	for _, x := range list {
		delete(used, x.ID)
	}
	return used
}

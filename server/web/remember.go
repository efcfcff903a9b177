package web

import (
	"net/http"
	"time"
)

// rememberParams are the params of POST /devices.
type rememberParams struct {
	Name string `json:"name"`
	// Key is the public key of the browser: an uncompressed point of P-256 in base64.
	Key string `json:"key"`
}

// rememberResponse has the id of the browser, and the public key by which it knows the servers of this home.
type rememberResponse struct {
	ID     string `json:"id"`
	Server string `json:"server"`
}

// listedDevice is a device without its key.
type listedDevice struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Origin   string `json:"origin"`
	Created  int64  `json:"created"`
	LastUsed int64  `json:"lastUsed"`
	// Current is set if the session of the request belongs to it.
	Current bool `json:"current"`
}

type devicesResponse struct {
	Devices []listedDevice `json:"devices"`
}

// serveDevices lists, adds and revokes devices for a page with a session.
func (p *Page) serveDevices(w http.ResponseWriter, r *http.Request) {
	s := p.authorized(w, r)
	if s == nil {
		return
	}
	switch r.Method {
	case http.MethodPost:
		p.remember(w, r, s)
	case http.MethodDelete:
		p.forget(w, r.URL.Query().Get("id"))
	default:
		p.listDevices(w, s)
	}
}

func (p *Page) listDevices(w http.ResponseWriter, s *session) {
	list, err := p.devices.read(time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	current, response := p.sessions.deviceOf(s), devicesResponse{[]listedDevice{}}
	for _, x := range list {
		response.Devices = append(response.Devices,
			listedDevice{x.ID, x.Name, x.Origin, x.Created, x.LastUsed, x.ID == current})
	}
	respond(w, http.StatusOK, response)
}

// remember adds the key of a browser, and makes the session part of this device. A session of another device cannot add
// one.
func (p *Page) remember(w http.ResponseWriter, r *http.Request, s *session) {
	var params rememberParams
	if !readBody(w, r, &params, `{"name": "…", "key": "…"} with a name of at most 64 printable characters and a key of P-256 in base64`,
		func() bool {
			_, err := parseKey(params.Key)
			return err == nil && isName(params.Name)
		}) {
		return
	}
	if r.Host != p.guard.own {
		http.Error(w, "browsers are remembered at http://"+p.guard.own+" only: another program can listen at this address later",
			http.StatusForbidden)
		return
	}
	if device := p.sessions.deviceOf(s); device != "" && device != deviceID(params.Key) {
		http.Error(w, "this session belongs to another remembered browser", http.StatusForbidden)
		return
	}
	server, err := p.devices.publicServerKey()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	added, isNew, err := p.devices.add(time.Now(), params.Name, "http://"+p.guard.own, params.Key)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if !p.sessions.bind(s, added.ID) {
		http.Error(w, "this session belongs to another remembered browser", http.StatusForbidden)
		return
	}
	status := http.StatusOK
	if isNew {
		status = http.StatusCreated
	}
	respond(w, status, rememberResponse{added.ID, server})
}

// forget revokes a device. Its sessions end at once.
func (p *Page) forget(w http.ResponseWriter, id string) {
	if id == allDevices {
		http.Error(w, "the query must have the id of one browser", http.StatusBadRequest)
		return
	}
	if _, err := Forget(p.record.home, id); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
	p.sessions.endRevoked()
}

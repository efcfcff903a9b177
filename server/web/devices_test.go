package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// browser is a browser with a key.
type browser struct {
	t       *testing.T
	private *ecdsa.PrivateKey
	public  string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	point, err := private.PublicKey.Bytes()
	require.NoError(t, err)
	return &browser{t, private, base64.StdEncoding.EncodeToString(point)}
}

func (b *browser) id() string { return deviceID(b.public) }

// sign signs as WebCrypto does.
func (b *browser) sign(text string) string {
	b.t.Helper()
	digest := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, b.private, digest[:])
	require.NoError(b.t, err)
	return base64.StdEncoding.EncodeToString(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

// remember adds the browser with a token and returns the status.
func (b *browser) remember(p *Page, token, name string, headers ...string) int {
	b.t.Helper()
	body, err := json.Marshal(rememberParams{name, b.public})
	require.NoError(b.t, err)
	return send(b.t, p, "POST", "/devices", string(body),
		append([]string{"Content-Type", "application/json", "Authorization", "Bearer " + token}, headers...)...).StatusCode
}

func askChallenge(t *testing.T, p *Page) string {
	t.Helper()
	challenge, _ := askProof(t, p, base64.StdEncoding.EncodeToString(make([]byte, nonceBytes)))
	return challenge
}

// askProof returns a challenge and the proof of the server for a nonce.
func askProof(t *testing.T, p *Page, nonce string) (challenge, proof string) {
	t.Helper()
	var c challengeResponse
	r := send(t, p, "POST", "/challenge", `{"nonce":"`+nonce+`"}`, "Content-Type", "application/json")
	require.Equal(t, 200, r.StatusCode)
	require.NoError(t, json.Unmarshal([]byte(text(t, r)), &c))
	return c.Challenge, c.Proof
}

// answer sends the answer to a challenge, and returns the status and the token.
func answer(t *testing.T, p *Page, device, challenge, signature string, headers ...string) (int, string) {
	t.Helper()
	body, err := json.Marshal(sessionParams{Device: device, Challenge: challenge, Signature: signature})
	require.NoError(t, err)
	r := send(t, p, "POST", "/session", string(body), append([]string{"Content-Type", "application/json"}, headers...)...)
	return r.StatusCode, tokenIn(t, r)
}

// signIn opens a session with the key, and returns the status and the token.
func (b *browser) signIn(p *Page) (int, string) {
	b.t.Helper()
	c := askChallenge(b.t, p)
	return answer(b.t, p, b.id(), c, b.sign(string(signedText(p.URL(), c))))
}

// accepts returns the status of a token.
func accepts(t *testing.T, p *Page, token string) int {
	t.Helper()
	return send(t, p, "GET", "/session", "", "Authorization", "Bearer "+token).StatusCode
}

// remembered returns a browser that a page remembers.
func remembered(t *testing.T, p *Page) *browser {
	t.Helper()
	b := newBrowser(t)
	require.Equal(t, 201, b.remember(p, signIn(t, p), "Firefox on Linux"))
	return b
}

// restart returns a page of the same home, as after a restart of the server at the same port.
func restart(t *testing.T, p *Page) *Page {
	t.Helper()
	require.NoError(t, p.Stop())
	next := startIn(t, p.record.home, Address{AddrPort: p.record.address})
	require.Equal(t, p.URL(), next.URL())
	return next
}

// TestRememberedBrowserOutlivesTheServer opens sessions without a ticket, also of a server that was started again.
func TestRememberedBrowserOutlivesTheServer(t *testing.T) {
	p := start(t)
	b := remembered(t, p)
	status, first := b.signIn(p)
	require.Equal(t, 200, status)
	require.Equal(t, 204, accepts(t, p, first))
	p = restart(t, p)
	require.Equal(t, 401, accepts(t, p, first), "tokens end with their server")
	status, second := b.signIn(p)
	require.Equal(t, 200, status)
	require.Equal(t, 204, accepts(t, p, second))
	list, err := Devices(p.record.home)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, []string{b.id(), "Firefox on Linux", p.URL(), b.public},
		[]string{list[0].ID, list[0].Name, list[0].Origin, list[0].Key})
}

// TestForgedAnswersOpenNoSession answers challenges in all wrong ways.
func TestForgedAnswersOpenNoSession(t *testing.T) {
	p := start(t)
	b, other := remembered(t, p), newBrowser(t)
	reject := func(reason, device, challenge, signature string, headers ...string) {
		t.Helper()
		status, token := answer(t, p, device, challenge, signature, headers...)
		require.Equal(t, 403, status, reason)
		require.Empty(t, token, reason)
	}
	signed := func(origin, c string) string { return b.sign(string(signedText(origin, c))) }
	c := askChallenge(t, p)
	reject("another key", b.id(), c, other.sign(string(signedText(p.URL(), c))))
	good := signed(p.URL(), c)
	status, _ := answer(t, p, b.id(), c, good)
	require.Equal(t, 200, status)
	reject("a stolen signature is sent again", b.id(), c, good)
	reject("a stolen signature for another challenge", b.id(), askChallenge(t, p), good)
	reject("a challenge of nobody", b.id(), "mine", signed(p.URL(), "mine"))
	c = askChallenge(t, p)
	reject("an unknown device", other.id(), c, other.sign(string(signedText(p.URL(), c))))
	for _, text := range []string{"", c, p.URL() + "\n" + c} {
		c = askChallenge(t, p)
		reject("another text", b.id(), c, b.sign(text+c))
	}
	for _, broken := range []string{"", "=", base64.StdEncoding.EncodeToString(make([]byte, 64)),
		base64.StdEncoding.EncodeToString(make([]byte, 63)), strings.Repeat("A", 1000)} {
		c = askChallenge(t, p)
		reject("no signature", b.id(), c, broken)
	}
}

// TestSignaturesOfOtherAddressesOpenNoSession passes on what a browser signs for a program at another address, or for
// another name of this address. Only the server itself can listen at its own address.
func TestSignaturesOfOtherAddressesOpenNoSession(t *testing.T) {
	p := start(t)
	b := remembered(t, p)
	_, port, _ := strings.Cut(strings.TrimPrefix(p.URL(), "http://"), ":")
	for _, host := range []string{"127.0.0.1:1", "127.0.0.1", "localhost:" + port, "[::1]:" + port, "localhost:1"} {
		for _, headers := range [][]string{nil, {"Host", host}, {"Host", host, "Origin", "http://" + host}} {
			c := askChallenge(t, p)
			status, _ := answer(t, p, b.id(), c, b.sign(string(signedText("http://"+host, c))), headers...)
			require.Equal(t, 403, status, "%s %q", host, headers)
			if headers != nil {
				c = askChallenge(t, p)
				status, _ = answer(t, p, b.id(), c, b.sign(string(signedText(p.URL(), c))), headers...)
				require.Equal(t, 403, status, "%s %q", host, headers)
			}
		}
		fresh := newBrowser(t)
		require.Equal(t, 403, fresh.remember(p, signIn(t, p), "x", "Host", host), host)
	}
	elsewhere := startIn(t, p.record.home, anyPort())
	status, _ := b.signIn(elsewhere)
	require.Equal(t, 403, status, "a server of the same home at another port does not know the browser")
	c := askChallenge(t, elsewhere)
	status, _ = answer(t, elsewhere, b.id(), c, b.sign(string(signedText(p.URL(), c))))
	require.Equal(t, 403, status, "a program at the address of the browser passes on the challenge of that server")
}

// TestChallengesExpire lets the time of a challenge pass.
func TestChallengesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := newChallenges()
		first, second := page.issue(), page.issue()
		time.Sleep(challengeLife - time.Nanosecond)
		require.True(t, page.use(first))
		require.False(t, page.use(first))
		time.Sleep(time.Nanosecond)
		require.False(t, page.use(second))
		require.True(t, page.use(page.issue()))
		require.Len(t, page.used, 1, "what has ended takes no memory")
	})
}

// TestFloodOfChallengesDisplacesNone lets another program request challenges between those of a browser and its answer.
func TestFloodOfChallengesDisplacesNone(t *testing.T) {
	p := start(t)
	b := remembered(t, p)
	c := askChallenge(t, p)
	for range 300 {
		askChallenge(t, p)
	}
	status, token := answer(t, p, b.id(), c, b.sign(string(signedText(p.URL(), c))))
	require.Equal(t, 200, status)
	require.Equal(t, 204, accepts(t, p, token))
	require.Len(t, p.challenges.used, 1)
}

// TestChangedChallengesOpenNoSession changes each part of a challenge, and uses those of another page.
func TestChangedChallengesOpenNoSession(t *testing.T) {
	p := start(t)
	b := remembered(t, p)
	c := askChallenge(t, p)
	parts := strings.Split(c, ".")
	require.Len(t, parts, 3)
	for _, changed := range []string{
		parts[0] + "." + parts[1], "x" + c, c + "0", strings.ToLower(c), strings.ToUpper(c), "..",
		parts[0] + ".zzzzzzzzzzzz." + parts[2], parts[0] + ".." + parts[2], "." + parts[1] + "." + parts[2], ".." + parts[2],
		parts[1] + "." + parts[0] + "." + parts[2], parts[0] + ".x." + parts[1] + "." + parts[2], newChallenges().issue(),
	} {
		status, _ := answer(t, p, b.id(), changed, b.sign(string(signedText(p.URL(), changed))))
		require.Equal(t, 403, status, changed)
	}
	status, _ := answer(t, p, b.id(), c, b.sign(string(signedText(p.URL(), c))))
	require.Equal(t, 200, status)
}

// dial connects a client with a token.
func dial(t *testing.T, p *Page, token string) *websocket.Conn {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), p.URL()+"/ws",
		&websocket.DialOptions{Subprotocols: []string{subprotocol, bearerPrefix + token}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return ws
}

// TestForgottenBrowserIsDisconnected revokes a browser with a session and a connection, as the command does in another
// process. Other sessions continue.
func TestForgottenBrowserIsDisconnected(t *testing.T) {
	p := start(t)
	ticketOnly := signIn(t, p)
	b, kept := remembered(t, p), remembered(t, p)
	_, token := b.signIn(p)
	_, keptToken := kept.signIn(p)
	ws, keptClient, other := dial(t, p, token), dial(t, p, keptToken), dial(t, p, ticketOnly)
	forgotten, err := Forget(p.record.home, b.id())
	require.NoError(t, err)
	require.Len(t, forgotten, 1)
	_, _, err = ws.Read(t.Context()) // no request makes the server look
	require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(err), err)
	require.Equal(t, 401, accepts(t, p, token))
	status, _ := b.signIn(p)
	require.Equal(t, 403, status)
	for i, token := range []string{keptToken, ticketOnly} {
		require.Equal(t, 204, accepts(t, p, token))
		client := []*websocket.Conn{keptClient, other}[i]
		require.NoError(t, client.Write(t.Context(), websocket.MessageText, []byte("hello")))
		_, _, err = client.Read(t.Context())
		require.NoError(t, err)
	}
	_, err = Forget(p.record.home, allDevices)
	require.NoError(t, err)
	require.Equal(t, 401, accepts(t, p, keptToken), "the next request finds that out")
	require.Equal(t, 204, accepts(t, p, ticketOnly))
}

// TestSessionOfTheTicketEndsWithTheBrowser revokes a browser that was remembered in the session of its ticket.
func TestSessionOfTheTicketEndsWithTheBrowser(t *testing.T) {
	p := start(t)
	token, b := signIn(t, p), newBrowser(t)
	ws := dial(t, p, token)
	require.Equal(t, 201, b.remember(p, token, "x"))
	require.Equal(t, 200, b.remember(p, token, "y"), "again")
	require.Equal(t, 403, newBrowser(t).remember(p, token, "z"), "a session belongs to one browser")
	r := send(t, p, "DELETE", "/devices", "", "Authorization", "Bearer "+token)
	require.Equal(t, 404, r.StatusCode)
	c := strings.TrimPrefix(p.URL(), "http://")
	require.Equal(t, "204", rawStatus(t, c, "DELETE /devices?id="+b.id()+" HTTP/1.1\r\nHost: "+c+"\r\nAuthorization: Bearer "+token+"\r\n\r\n"))
	_, _, err := ws.Read(t.Context())
	require.Equal(t, websocket.StatusGoingAway, websocket.CloseStatus(err), err)
	require.Equal(t, 401, accepts(t, p, token))
}

// TestDevicesNeedASession sends requests without a valid token.
func TestDevicesNeedASession(t *testing.T) {
	p := start(t)
	token := signIn(t, p)
	for _, method := range []string{"GET", "POST", "DELETE"} {
		for _, authorization := range []string{"", "Bearer ", "Bearer x", "Basic " + token, token} {
			r := send(t, p, method, "/devices", "{}", "Authorization", authorization, "Content-Type", "application/json")
			require.Equal(t, 401, r.StatusCode, "%s %s", method, authorization)
		}
	}
	b := newBrowser(t)
	for _, name := range []string{"", "all", " x", "x ", "a\x1b[31m", "a\nb", "a\u202eb", strings.Repeat("x", 65), "e\u0301"} {
		require.Equal(t, 400, b.remember(p, token, name), "%q", name)
	}
	for _, key := range []string{"", "x", base64.StdEncoding.EncodeToString(make([]byte, 65)), b.public[1:],
		b.public + "\n",
		base64.StdEncoding.EncodeToString(append([]byte{4}, make([]byte, 64)...))} {
		b := &browser{t: t, public: key}
		require.Equal(t, 400, b.remember(p, token, "x"), "%q", key)
	}
	require.Equal(t, 400, send(t, p, "POST", "/session", `{"ticket":"a","device":"b"}`, "Content-Type", "application/json").StatusCode)
	require.NoFileExists(t, p.devices.path())
}

// TestListOfBrowsersHasNoKeys reads the list as the page does.
func TestListOfBrowsersHasNoKeys(t *testing.T) {
	p := start(t)
	a, b := remembered(t, p), remembered(t, p)
	_, token := b.signIn(p)
	list := text(t, send(t, p, "GET", "/devices", "", "Authorization", "Bearer "+token))
	require.Contains(t, list, a.id())
	require.Contains(t, list, "Firefox on Linux 2")
	require.NotContains(t, list, b.public)
	require.Equal(t, 1, strings.Count(list, `"current":true`))
}

// TestUnusedBrowsersExpire lets 90 days pass, and remembers more browsers than fit.
func TestUnusedBrowsersExpire(t *testing.T) {
	d := devices{t.TempDir()}
	now := time.Now()
	var first *browser
	for i := range maxDevices + 1 {
		b := newBrowser(t)
		if first == nil {
			first = b
		}
		_, isNew, err := d.add(now.Add(time.Duration(i)*time.Second), "x", "http://127.0.0.1:1", b.public)
		require.NoError(t, err)
		require.True(t, isNew)
	}
	list, err := d.read(now)
	require.NoError(t, err)
	require.Len(t, list, maxDevices)
	require.NotEqual(t, first.id(), list[0].ID, "the one that was used least recently is gone")
	used := list[3]
	d.touch(now.Add(touchInterval/2), used)
	d.touch(now.Add(24*time.Hour), used)
	list, err = d.read(now.Add(deviceLife + time.Hour))
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, used.ID, list[0].ID)
}

// TestDamagedFileOfBrowsersOpensNothing changes the file in ways that only others do. The file stays as it is until the
// user forgets all browsers.
func TestDamagedFileOfBrowsersOpensNothing(t *testing.T) {
	p := start(t)
	b := remembered(t, p)
	path := p.devices.path()
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(good), "private")
	entry := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(good)), `{"devices":[`), "]}")
	for name, content := range map[string]string{
		"text": "x", "empty": "", "array": "[]", "type": `{"devices":[{"id":7}]}`, "no key": `{"devices":[{}]}`,
		"id":     strings.Replace(string(good), b.id(), strings.Repeat("0", 16), 1),
		"name":   strings.Replace(string(good), "Firefox on Linux", `\u001b[31m`, 1),
		"origin": strings.Replace(string(good), `"http://127`, `"https://127`, 1),
		"many":   `{"devices":[` + strings.Repeat(entry+",", maxDevices) + entry + `]}`,
		"long":   string(good) + strings.Repeat(" ", maxDevicesBytes),
	} {
		_, token := b.signIn(p)
		require.NotEmpty(t, token)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		status, _ := b.signIn(p)
		require.Equal(t, 500, status, name)
		require.Equal(t, 401, accepts(t, p, token), name)
		require.Equal(t, 500, newBrowser(t).remember(p, signIn(t, p), "new"), name)
		_, err = Devices(p.record.home)
		require.ErrorContains(t, err, "--forget all replaces it", name)
		_, err = Forget(p.record.home, b.id())
		require.Error(t, err)
		left, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, string(left), "%s: nothing is overwritten", name)
		require.NoError(t, os.WriteFile(path, good, 0o600))
	}
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Chmod(path, 0o620))
		status, _ := b.signIn(p)
		require.Equal(t, 500, status)
		require.NoError(t, os.Rename(path, path+".real"))
		require.NoError(t, os.Chmod(path+".real", 0o600))
		require.NoError(t, os.Symlink(path+".real", path))
		status, _ = b.signIn(p)
		require.Equal(t, 500, status, "a link")
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Mkdir(path, 0o700))
		status, _ = b.signIn(p)
		require.Equal(t, 500, status, "a folder")
		require.NoError(t, os.Remove(path))
	}
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	_, err = Forget(p.record.home, allDevices)
	require.NoError(t, err)
	list, err := Devices(p.record.home)
	require.NoError(t, err)
	require.Empty(t, list)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, "-rw-------", info.Mode().String())
	status, _ := b.signIn(p)
	require.Equal(t, 403, status)
}

// TestDamagedKeyOfTheServerIsNamed states the file and the next action, and nothing of the file.
func TestDamagedKeyOfTheServerIsNamed(t *testing.T) {
	p := start(t)
	remembered(t, p)
	for _, content := range []string{"", "sEcReT", strings.Repeat("A", 44)} {
		require.NoError(t, os.WriteFile(p.devices.keyPath(), []byte(content), 0o600))
		_, err := Devices(p.record.home)
		require.ErrorContains(t, err, p.devices.keyPath())
		require.ErrorContains(t, err, "remove it")
		require.NotContains(t, err.Error(), "sEcReT")
		r := send(t, p, "POST", "/challenge", `{"nonce":"`+strings.Repeat("A", 43)+`="}`, "Content-Type", "application/json")
		require.Equal(t, 500, r.StatusCode)
	}
	require.NoError(t, os.Remove(p.devices.keyPath()))
	require.Equal(t, 201, newBrowser(t).remember(p, signIn(t, p), "next"), "another ticket makes another key")
	_, err := Devices(p.record.home)
	require.NoError(t, err)
}

// TestSessionsAreBounded opens more sessions than fit. Those with a client stay.
func TestSessionsAreBounded(t *testing.T) {
	p := start(t)
	used, idle := signIn(t, p), signIn(t, p)
	dial(t, p, used)
	require.Eventually(t, func() bool { // the response to the client is sent before
		p.sessions.mu.Lock()
		defer p.sessions.mu.Unlock()
		for _, x := range p.sessions.all {
			if len(x.clients) > 0 {
				return true
			}
		}
		return false
	}, time.Minute, time.Millisecond)
	for range maxSessions {
		p.sessions.open("")
	}
	require.LessOrEqual(t, len(p.sessions.all), maxSessions)
	require.Equal(t, 204, accepts(t, p, used))
	require.Equal(t, 401, accepts(t, p, idle))
}

// TestFilesOfThePageAreNotTakenFromACache loads index.html of two servers. A program that listened at the address
// before cannot know the addresses of the files, so it has stored none of them in the cache of the browser.
func TestFilesOfThePageAreNotTakenFromACache(t *testing.T) {
	p := start(t)
	address := func(p *Page) string {
		index := text(t, send(t, p, "GET", "/", ""))
		require.NotContains(t, index, `"/assets/main-`)
		_, rest, found := strings.Cut(index, `src="`)
		require.True(t, found, index)
		path, _, _ := strings.Cut(rest, `"`)
		return path
	}
	first := address(p)
	p = restart(t, p)
	second := address(p)
	require.NotEqual(t, first, second)
	for _, path := range []string{first, second, "/assets/main-ABCD1234.js"} {
		r := send(t, p, "GET", path, "")
		require.Equal(t, 200, r.StatusCode, "an open page loads more files from the next server")
		require.Equal(t, cacheForever, r.Header.Get("Cache-Control"))
	}
	folder := filepath.Dir(first)
	for _, path := range []string{folder, folder + "/", folder + "/../main-ABCD1234.js", folder[1:],
		strings.ToLower(folder) + "/main-ABCD1234.js"} {
		require.Equal(t, http.StatusNotFound, send(t, p, "GET", path, "").StatusCode, path)
	}
}

// TestServerProvesItsHome checks the proof as a page does. A server of another home, or one at another address, has no
// proof for the address of the page.
func TestServerProvesItsHome(t *testing.T) {
	p := start(t)
	nonce := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("n", nonceBytes)))
	_, proof := askProof(t, p, nonce)
	require.Empty(t, proof, "no browser is remembered")
	b := newBrowser(t)
	body, err := json.Marshal(rememberParams{"x", b.public})
	require.NoError(t, err)
	r := send(t, p, "POST", "/devices", string(body), "Content-Type", "application/json", "Authorization", "Bearer "+signIn(t, p))
	var known rememberResponse
	require.NoError(t, json.Unmarshal([]byte(text(t, r)), &known))
	proves := func(server *Page) bool {
		t.Helper()
		challenge, proof := askProof(t, server, nonce)
		return verify(known.Server, proof, proofText(p.URL(), nonce, challenge))
	}
	require.True(t, proves(p))
	next := restart(t, p)
	require.True(t, proves(next))
	require.False(t, proves(startIn(t, p.record.home, anyPort())), "it is at another address")
	other := start(t)
	remembered(t, other)
	require.False(t, proves(other))

	challenge, proof := askProof(t, next, nonce)
	require.False(t, verify(known.Server, proof, proofText(p.URL(), nonce, challenge+"x")))
	require.False(t, verify(known.Server, proof, signedText(p.URL(), challenge)), "it signs nothing else")
	for _, nonce := range []string{"", "x", nonce + "\\n", base64.StdEncoding.EncodeToString(make([]byte, 31))} {
		r := send(t, next, "POST", "/challenge", `{"nonce":"`+nonce+`"}`, "Content-Type", "application/json")
		require.Equal(t, 400, r.StatusCode, "%q", nonce)
	}
	path := next.devices.keyPath()
	secret, err := os.ReadFile(path)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, "-rw-------", info.Mode().String())
	require.NoError(t, os.WriteFile(path, []byte("damaged "+string(secret)), 0o600))
	r = send(t, next, "POST", "/challenge", `{"nonce":"`+nonce+`"}`, "Content-Type", "application/json")
	require.Equal(t, 500, r.StatusCode)
	message := text(t, r)
	require.Contains(t, message, "remove it")
	require.NotContains(t, message, strings.TrimSpace(string(secret)))
}

// Package httpclient makes all HTTP transports of the program.
//
// [Environment] makes those for requests to others: providers, MCP servers, endpoints for embeddings. They obey the
// variables of the environment for certificates and proxies. [Direct] makes those for connections to servers of this
// program, which use no proxy.
//
// # Certificates
//
// The certificates of CODEX_CA_CERTIFICATE are trusted beside those of the system. If it is not set, SSL_CERT_FILE
// has that effect. SSL_CERT_DIR has folders of certificates. A file that cannot be read or has no certificate is an
// error of each request over TLS.
//
// # Proxies
//
// HTTPS_PROXY, HTTP_PROXY and NO_PROXY have the meaning that they have in net/http. ALL_PROXY holds for requests
// without a variable of their own. An address without a scheme is one of HTTP. An error names the variable and the
// host and port of the proxy, and never its user and password.
//
// # Decisions
//
// The variables are read at the first request, so that a server without requests starts with any environment. An
// invalid variable fails requests; to ignore it would send requests by another way than the user wants.
package httpclient

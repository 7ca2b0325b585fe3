package main

import (
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/url"
)

type SocksCase struct {
	Name string `json:"name"`
	// Of the proxy; empty: none.
	Username string `json:"username"`
	Password string `json:"password"`
	// Method that the proxy chooses.
	Method byte `json:"method"`
	// Host and port.
	Target string `json:"target"`
}

// Returns what Go sends to a SOCKS5 proxy, in hexadecimal: the greeting, the credentials, the request.
func judgeSocks(one SocksCase) []string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	defer listener.Close()
	sent := make(chan []string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			fail(err)
		}
		defer conn.Close()
		sent <- converse(conn, one.Method)
	}()
	proxy := url.URL{Scheme: "socks5", Host: listener.Addr().String()}
	if one.Username != "" {
		proxy.User = url.UserPassword(one.Username, one.Password)
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&proxy)}}
	// The proxy closes the connection.
	if response, err := client.Get("http://" + one.Target); err == nil {
		response.Body.Close()
	}
	return <-sent
}

func converse(conn net.Conn, method byte) []string {
	var sent []string
	buffer := make([]byte, 1024)
	hear := func(answer ...byte) bool {
		// Go writes each message at once.
		count, err := conn.Read(buffer)
		if err == io.EOF {
			return false
		}
		if err != nil {
			fail(err)
		}
		sent = append(sent, hex.EncodeToString(buffer[:count]))
		_, err = conn.Write(answer)
		return err == nil
	}
	if !hear(5, method) || method == 0xff || method == 2 && !hear(1, 0) {
		return sent
	}
	hear(5, 0, 0, 1, 0, 0, 0, 0, 0, 0)
	return sent
}

package main

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
)

type TrustCase struct {
	Name       string `json:"name"`
	ServerName string `json:"serverName"`
	CA         string `json:"ca"`
	Chain      string `json:"chain"`
	Key        string `json:"key"`
}

type TrustVerdict struct {
	Trusted bool   `json:"trusted"`
	Why     string `json:"why,omitempty"`
}

// Verifies as crypto/tls does (handshake_client.go, verifyServerCertificate).
func judgeTrust(one TrustCase) TrustVerdict {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(one.CA)) {
		fail(fmt.Errorf("%s: no CA", one.Name))
	}
	var sent []*x509.Certificate
	for block, rest := pem.Decode([]byte(one.Chain)); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return TrustVerdict{Why: err.Error()}
		}
		sent = append(sent, certificate)
	}
	intermediates := x509.NewCertPool()
	for _, certificate := range sent[1:] {
		intermediates.AddCert(certificate)
	}
	_, err := sent[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates, DNSName: one.ServerName})
	if err != nil {
		why, _, _ := strings.Cut(err.Error(), ": current time")
		return TrustVerdict{Why: why}
	}
	return TrustVerdict{Trusted: true}
}

// Command go-flags starts a manager of controller-runtime as the Go program does, once for each command line of a table, and writes down whether it
// runs and with which values. See README.md.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Answer is what a command line comes to. Only one of Refused and Effective is set.
type Answer struct {
	Args      []string   `json:"args"`
	Refused   string     `json:"refused,omitempty"`
	Effective *Effective `json:"effective,omitempty"`
}

// Effective has the values that a running manager uses.
type Effective struct {
	LogLevel   string `json:"logLevel"`
	LogEncoder string `json:"logEncoder,omitempty"`
	// QPS is "unlimited", or the rate.
	QPS string `json:"qps"`
	// Burst is the number of requests that the rate limiter lets through at once; absent without limit.
	Burst          int      `json:"burst,omitempty"`
	Metrics        string   `json:"metrics"`
	Health         string   `json:"health"`
	LeaderElection *Leading `json:"leaderElection,omitempty"`
	// Ignored are the arguments after which the flag package stops.
	Ignored []string `json:"ignored,omitempty"`
}

// Leading are the settings of a manager that leads.
type Leading struct {
	Namespace     string `json:"namespace"`
	LeaseDuration string `json:"leaseDuration"`
	RenewDeadline string `json:"renewDeadline"`
	RetryPeriod   string `json:"retryPeriod"`
}

// longEnough is more than a manager needs for its start, and less than its time-out for caches (2 minutes).
const longEnough = 20 * time.Second

var errTooLate = errors.New("no request gets through")

// options are the flags of the Go program, with its names, types and defaults.
type options struct {
	config, metrics, health, pprof, namespace string
	reconciles, burst                         int
	qps                                       float64
	elect                                     bool
	lease, renew, retry                       time.Duration
}

func bind(flags *flag.FlagSet) *options {
	o := &options{}
	flags.StringVar(&o.config, "config-file", "", "")
	flags.IntVar(&o.reconciles, "concurrent-reconciles", 1, "")
	flags.IntVar(&o.burst, "kube-api-burst", rest.DefaultBurst, "")
	flags.Float64Var(&o.qps, "kube-api-qps", float64(rest.DefaultQPS), "")
	flags.StringVar(&o.metrics, "metrics-bind-addr", ":9643", "")
	flags.StringVar(&o.health, "health-bind-addr", ":9644", "")
	flags.StringVar(&o.pprof, "pprof-bind-addr", "", "")
	flags.BoolVar(&o.elect, "enable-leader-election", false, "")
	flags.StringVar(&o.namespace, "leader-election-namespace", "garden", "")
	flags.DurationVar(&o.lease, "leader-elect-lease-duration", 15*time.Second, "")
	flags.DurationVar(&o.renew, "leader-elect-renew-deadline", 10*time.Second, "")
	flags.DurationVar(&o.retry, "leader-elect-retry-period", 2*time.Second, "")
	return o
}

// start runs a manager until its controller has started, and returns what is in force.
func start(args []string) (*Effective, error) {
	flags := flag.CommandLine // controller-runtime has registered --kubeconfig here.
	flags.Init("dwd", flag.ContinueOnError)
	flags.Usage = func() {}
	log := &lockedBuffer{}
	zapOptions := zap.Options{Level: zapcore.InfoLevel}
	zapOptions.BindFlags(flags)
	o := bind(flags)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if o.config == "" {
		return nil, errors.New("the configuration cannot be read: open : no such file or directory")
	}
	zapOptions.DestWriter = log
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&zapOptions)))
	effective := &Effective{Ignored: flags.Args()}
	effective.LogLevel, effective.LogEncoder = logging(log)

	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = float32(o.qps), o.burst
	config.ContentType = runtime.ContentTypeJSON // The API server below reads nothing else.
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:                 server.Options{BindAddress: o.metrics},
		HealthProbeBindAddress:  o.health,
		PprofBindAddress:        o.pprof,
		LeaderElection:          o.elect,
		LeaderElectionID:        "dwd-prober-leader-election",
		LeaderElectionNamespace: o.namespace,
		LeaseDuration:           &o.lease,
		RenewDeadline:           &o.renew,
		RetryPeriod:             &o.retry,
	})
	if err != nil {
		return nil, err
	}
	c, err := controller.New("clusters", manager, controller.Options{
		MaxConcurrentReconciles: o.reconciles,
		Reconciler:              reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil }),
	})
	if err != nil {
		return nil, err
	}
	started := make(chan struct{})
	if err := c.Watch(source.Kind(manager.GetCache(), &corev1.ConfigMap{}, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{})); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- manager.Start(ctx) }()
	go func() {
		<-manager.Elected()
		if manager.GetCache().WaitForCacheSync(ctx) {
			if _, err := manager.GetCache().GetInformer(ctx, &corev1.ConfigMap{}); err == nil {
				close(started)
			}
		}
	}()
	select {
	case err := <-failed:
		return nil, err
	case <-time.After(longEnough):
		return nil, errTooLate
	case <-started:
	}
	select {
	case err := <-failed: // A server that cannot listen reports it after the caches may have synced.
		return nil, err
	case <-time.After(time.Second):
	}
	if effective.QPS, effective.Burst, err = limit(config); err != nil {
		return nil, err
	}
	effective.Metrics, effective.Health = listening(o.metrics, ":8080"), listening(o.health, "none")
	if o.elect {
		effective.LeaderElection = &Leading{o.namespace, o.lease.String(), o.renew.String(), o.retry.String()}
	}
	return effective, nil
}

// logging writes a line of each level and returns the least that appears, and its encoding.
func logging(log *lockedBuffer) (level, encoder string) {
	ctrl.Log.Error(nil, "at error")
	ctrl.Log.Info("at info")
	ctrl.Log.V(1).Info("at debug")
	text := log.String()
	switch {
	case strings.Contains(text, "at debug"):
		level = "debug"
	case strings.Contains(text, "at info"):
		level = "info"
	case strings.Contains(text, "at error"):
		level = "error"
	default:
		return "panic", ""
	}
	if strings.HasPrefix(text, "{") {
		return level, "json"
	}
	return level, "console"
}

// limit asks a client's rate limiter for its rate, and how many requests it lets through at once.
func limit(config *rest.Config) (qps string, burst int, err error) {
	config = rest.CopyConfig(config)
	config.GroupVersion, config.NegotiatedSerializer = &corev1.SchemeGroupVersion, scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return "", 0, err
	}
	limiter := client.GetRateLimiter()
	if limiter == nil {
		return "unlimited", 0, nil
	}
	const many = 100_000
	for burst < many && limiter.TryAccept() {
		burst++
	}
	if burst == many {
		return "unlimited", 0, nil
	}
	return fmt.Sprint(limiter.QPS()), burst, nil
}

// listening names the address of a server that has started: the manager fails at an address that it cannot bind.
func listening(address, empty string) string {
	switch address {
	case "":
		return empty
	case "0":
		return "none"
	}
	if strings.HasSuffix(address, ":") {
		return address + "0" // The net package takes no port as 0.
	}
	return address
}

type lockedBuffer struct {
	mutex  sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.String()
}

// judge runs one command line in a process of its own, because flags and logs of controller-runtime are global.
func judge(kubeconfig string, args []string) Answer {
	command := exec.Command(os.Args[0], append([]string{"--judge"}, args...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "KUBE_FEATURE_WatchListClient=false")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		panic(fmt.Sprintf("%q: %v", args, err))
	}
	answer := Answer{}
	if err := json.Unmarshal(output, &answer); err != nil {
		panic(err)
	}
	if strings.Contains(answer.Refused, "address already in use") {
		panic("ports 9643 and 9644 must be free: " + answer.Refused)
	}
	answer.Args = args
	return answer
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--judge" {
		answer := Answer{}
		effective, err := start(os.Args[2:])
		if err != nil {
			answer.Refused = strings.Split(err.Error(), "\n")[0]
		} else {
			answer.Effective = effective
		}
		if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
			panic(err)
		}
		return
	}
	table := os.Args[1]
	text, err := os.ReadFile(table)
	if err != nil {
		panic(err)
	}
	var answers []Answer
	if err := json.Unmarshal(text, &answers); err != nil {
		panic(err)
	}
	seed := httptest.NewServer(&apiServer{})
	defer seed.Close()
	kubeconfig := filepath.Join(os.TempDir(), fmt.Sprintf("go-flags-%d.kubeconfig", os.Getpid()))
	if err := os.WriteFile(kubeconfig, []byte(kubeconfigFor(seed.URL)), 0o600); err != nil {
		panic(err)
	}
	defer os.Remove(kubeconfig)
	for i := range answers {
		answers[i] = judge(kubeconfig, slices.Clone(answers[i].Args))
	}
	var out bytes.Buffer
	out.WriteString("[\n")
	for i, answer := range answers {
		line, err := json.Marshal(answer)
		if err != nil {
			panic(err)
		}
		out.Write(line)
		if i < len(answers)-1 {
			out.WriteString(",")
		}
		out.WriteString("\n")
	}
	out.WriteString("]\n")
	if err := os.WriteFile(table, out.Bytes(), 0o644); err != nil {
		panic(err)
	}
}

//go:build collection

package clients

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

func TestForegroundDeletionEndsWithTheOwner(t *testing.T) {
	client := protobufClient(t)
	space := namespace(t, client)
	jobs, pods := client.BatchV1().Jobs(space), client.CoreV1().Pods(space)
	_, err := jobs.Create(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"},
		Spec: batchv1.JobSpec{Template: podTemplate()}}, metav1.CreateOptions{})
	must(t, err)
	eventually(t, "the job's pod", func() bool {
		list, err := pods.List(t.Context(), metav1.ListOptions{})
		must(t, err)
		return len(list.Items) == 1
	})
	foreground := metav1.DeletePropagationForeground
	must(t, jobs.Delete(t.Context(), "j", metav1.DeleteOptions{PropagationPolicy: &foreground}))
	eventually(t, "the job to be gone", func() bool {
		_, err := jobs.Get(t.Context(), "j", metav1.GetOptions{})
		return errors.IsNotFound(err)
	})
	left, err := pods.List(t.Context(), metav1.ListOptions{})
	must(t, err)
	if len(left.Items) != 0 {
		t.Errorf("the owner went before its pods: %v", left.Items)
	}
}

func TestJobsOfDeletedJobSetsAreCollected(t *testing.T) {
	typed := protobufClient(t)
	space := namespace(t, typed)
	client, err := dynamic.NewForConfig(config)
	must(t, err)
	count := func() int {
		jobs, err := typed.BatchV1().Jobs(space).List(t.Context(), metav1.ListOptions{})
		must(t, err)
		return len(jobs.Items)
	}
	_, err = client.Resource(jobSets).Namespace(space).Create(t.Context(), jobSet("js"), metav1.CreateOptions{})
	must(t, err)
	eventually(t, "a Job for each replica", func() bool { return count() == 2 })
	must(t, client.Resource(jobSets).Namespace(space).Delete(t.Context(), "js", metav1.DeleteOptions{}))
	eventually(t, "the Jobs to be collected", func() bool { return count() == 0 })
}

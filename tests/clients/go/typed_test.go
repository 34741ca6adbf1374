package clients

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/util/retry"
)

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "main", Image: "process", Command: []string{"true"}}}}}
}

func TestObjectsGoThereAndBack(t *testing.T) {
	client := protobufClient(t)
	maps := client.CoreV1().ConfigMaps(namespace(t, client))
	sent := configMap("a", map[string]string{"k": "v", "empty": "", "umlaut": "ä\n\x01"})
	sent.BinaryData = map[string][]byte{"bytes": {0, 1, 255}}
	made, err := maps.Create(t.Context(), sent, metav1.CreateOptions{})
	must(t, err)
	read, err := maps.Get(t.Context(), "a", metav1.GetOptions{})
	must(t, err)
	if !reflect.DeepEqual(made, read) || !reflect.DeepEqual(read.Data, sent.Data) || !reflect.DeepEqual(read.BinaryData, sent.BinaryData) {
		t.Errorf("sent %v, made %v, read %v", sent, made, read)
	}

	read.Data["k"] = "new"
	updated, err := maps.Update(t.Context(), read, metav1.UpdateOptions{})
	must(t, err)
	if updated.ResourceVersion == made.ResourceVersion || updated.UID != made.UID {
		t.Errorf("updated %v from %v", updated.ObjectMeta, made.ObjectMeta)
	}
	if _, err = maps.Update(t.Context(), made, metav1.UpdateOptions{}); !errors.IsConflict(err) {
		t.Errorf("an old version was written: %v", err)
	}
	must(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
		_, err := maps.Update(t.Context(), updated, metav1.UpdateOptions{})
		return err
	}))
}

func TestErrorsAreTold(t *testing.T) {
	client := protobufClient(t)
	maps := client.CoreV1().ConfigMaps(namespace(t, client))
	_, err := maps.Create(t.Context(), configMap("a", nil), metav1.CreateOptions{})
	must(t, err)
	if _, err = maps.Create(t.Context(), configMap("a", nil), metav1.CreateOptions{}); !errors.IsAlreadyExists(err) {
		t.Errorf("second create: %v", err)
	}
	if _, err = maps.Get(t.Context(), "absent", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("get of none: %v", err)
	}
	_, err = maps.Create(t.Context(), configMap("Not_A_Name", nil), metav1.CreateOptions{})
	if status, ok := err.(*errors.StatusError); !errors.IsInvalid(err) || !ok || status.ErrStatus.Details.Causes[0].Field != "metadata.name" {
		t.Errorf("bad name: %v", err)
	}
	uid := types.UID("other")
	err = maps.Delete(t.Context(), "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if !errors.IsConflict(err) {
		t.Errorf("delete of another uid: %v", err)
	}
	if _, err = client.CoreV1().ConfigMaps("nowhere").Create(t.Context(), configMap("a", nil), metav1.CreateOptions{}); !errors.IsNotFound(err) {
		t.Errorf("create in no namespace: %v", err)
	}
}

func TestPatches(t *testing.T) {
	client := protobufClient(t)
	maps := client.CoreV1().ConfigMaps(namespace(t, client))
	_, err := maps.Create(t.Context(), configMap("a", map[string]string{"k": "v"}), metav1.CreateOptions{})
	must(t, err)
	for _, step := range []struct {
		kind  types.PatchType
		patch string
		want  map[string]string
	}{
		{types.MergePatchType, `{"data":{"l":"w"}}`, map[string]string{"k": "v", "l": "w"}},
		{types.StrategicMergePatchType, `{"data":{"k":null}}`, map[string]string{"l": "w"}},
		{types.JSONPatchType, `[{"op":"add","path":"/data/m","value":"x"}]`, map[string]string{"l": "w", "m": "x"}},
	} {
		got, err := maps.Patch(t.Context(), "a", step.kind, []byte(step.patch), metav1.PatchOptions{})
		must(t, err)
		if !reflect.DeepEqual(got.Data, step.want) {
			t.Errorf("%s gave %v", step.patch, got.Data)
		}
	}
}

func TestApplyKeepsOwners(t *testing.T) {
	client := protobufClient(t)
	space := namespace(t, client)
	maps := client.CoreV1().ConfigMaps(space)
	wish := func(value string) *applycore.ConfigMapApplyConfiguration {
		return applycore.ConfigMap("a", space).WithData(map[string]string{"k": value})
	}
	_, err := maps.Apply(t.Context(), wish("one"), metav1.ApplyOptions{FieldManager: "first"})
	must(t, err)
	if _, err = maps.Apply(t.Context(), wish("two"), metav1.ApplyOptions{FieldManager: "second"}); !errors.IsConflict(err) {
		t.Errorf("the field of another was taken: %v", err)
	}
	got, err := maps.Apply(t.Context(), wish("two"), metav1.ApplyOptions{FieldManager: "second", Force: true})
	must(t, err)
	if got.Data["k"] != "two" {
		t.Errorf("applied %v", got.Data)
	}
	mine, err := applycore.ExtractConfigMap(got, "second")
	must(t, err)
	if mine.Data["k"] != "two" {
		t.Errorf("extracted %v", mine)
	}
}

func TestPagesAreOneState(t *testing.T) {
	client := protobufClient(t)
	maps := client.CoreV1().ConfigMaps(namespace(t, client))
	const count = 25
	for i := range count {
		_, err := maps.Create(t.Context(), configMap(fmt.Sprintf("page-%02d", i), nil), metav1.CreateOptions{})
		must(t, err)
	}
	var names []string
	options := metav1.ListOptions{Limit: 10, FieldSelector: "metadata.name!=kube-root-ca.crt"}
	for pages := 1; ; pages++ {
		page, err := maps.List(t.Context(), options)
		must(t, err)
		for _, item := range page.Items {
			names = append(names, item.Name)
		}
		if pages == 1 { // what is deleted between pages is still in them
			must(t, maps.Delete(t.Context(), "page-24", metav1.DeleteOptions{}))
		}
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	if len(names) != count || names[0] != "page-00" || names[count-1] != "page-24" {
		t.Errorf("listed %v", names)
	}
}

func TestWatchSeesEveryChange(t *testing.T) {
	client := protobufClient(t)
	maps := client.CoreV1().ConfigMaps(namespace(t, client))
	start, err := maps.List(t.Context(), metav1.ListOptions{})
	must(t, err)
	watcher, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: start.ResourceVersion, LabelSelector: "seen=yes"})
	must(t, err)
	defer watcher.Stop()
	seen := configMap("a", nil)
	seen.Labels = map[string]string{"seen": "yes"}
	_, err = maps.Create(t.Context(), seen, metav1.CreateOptions{})
	must(t, err)
	_, err = maps.Create(t.Context(), configMap("unseen", nil), metav1.CreateOptions{})
	must(t, err)
	_, err = maps.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{})
	must(t, err)
	must(t, maps.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
		select {
		case event := <-watcher.ResultChan():
			if event.Type != want || event.Object.(*corev1.ConfigMap).Name != "a" {
				t.Errorf("wanted %s, got %v", want, event)
			}
		case <-time.After(patience):
			t.Fatalf("no %s", want)
		}
	}
}

func TestJobMakesPods(t *testing.T) {
	client := protobufClient(t)
	space := namespace(t, client)
	two := int32(2)
	_, err := client.BatchV1().Jobs(space).Create(t.Context(), &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"},
		Spec: batchv1.JobSpec{Parallelism: &two, Completions: &two, Template: podTemplate()}}, metav1.CreateOptions{})
	must(t, err)
	pods := client.CoreV1().Pods(space)
	list := &corev1.PodList{}
	eventually(t, "two pods of the job", func() bool {
		list, err = pods.List(t.Context(), metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=j"})
		must(t, err)
		return len(list.Items) == 2
	})
	for _, pod := range list.Items { // as a kubelet would report it, while the scheduler may write, too
		must(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
			newest, err := pods.Get(t.Context(), pod.Name, metav1.GetOptions{})
			must(t, err)
			newest.Status.Phase = corev1.PodSucceeded
			_, err = pods.UpdateStatus(t.Context(), newest, metav1.UpdateOptions{})
			return err
		}))
	}
	eventually(t, "the job to complete", func() bool {
		job, err := client.BatchV1().Jobs(space).Get(t.Context(), "j", metav1.GetOptions{})
		must(t, err)
		return job.Status.Succeeded == 2 && job.Status.CompletionTime != nil
	})
}

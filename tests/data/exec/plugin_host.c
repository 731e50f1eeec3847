// usage: plugin_host PLUGIN.so   Calls its run() from a second thread and from this one.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void* in_thread(void* run) {
  ((int (*)(void))run)();
  return NULL;
}

int main(int argc, char** argv) {
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (plugin == NULL) return puts(dlerror()), 1;
  void* run = dlsym(plugin, "run");
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, run);
  pthread_join(thread, NULL);
  return ((int (*)(void))run)();
}

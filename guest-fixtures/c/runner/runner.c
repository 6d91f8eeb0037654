// A guest in C without any library that runs what it is told: the message of a
// task is a shell request in JSON, or else a bash command, and its result is the
// tool's result in JSON. The result of a completion is the completion's own text.
//
//	clang --target=wasm32 -O2 -nostdlib -fno-builtin -Wl,--no-entry \
//	  -Wl,--strip-debug -o runner.wasm runner.c
//
// What comes and goes is laid out as the canonical ABI has it.

typedef unsigned char u8;
typedef unsigned int u32;
typedef __SIZE_TYPE__ size_t;

typedef struct { const char *at; u32 len; } string;
typedef struct { u8 some; string value; } optional;
typedef struct { string key, value; } pair;
typedef struct {
  u8 status;
  optional summary, data, data_path;
  u8 truncated;
  pair *metadata;
  u32 metadata_len;
} tool_result;
typedef struct { u8 is_err; string text; } outcome;

__attribute__((import_module("murmur:tool/run@0.1.0"), import_name("run")))
void tool_run(u32 has_data, const char *data, u32 data_len,
              u32 has_log, const char *log, u32 log_len, tool_result *result);

// Memory is handed out upwards from the heap's base, and taken back all at once
// when a call is over.
extern u8 __heap_base;
static size_t top;

static void *allocate(size_t align, size_t size) {
  if (top == 0) top = (size_t)&__heap_base;
  top = (top + align - 1) & ~(align - 1);
  size_t at = top, end = at + size, have = __builtin_wasm_memory_size(0) << 16;
  if (end < at) __builtin_trap();
  if (end > have && __builtin_wasm_memory_grow(0, (end - have + 0xffff) >> 16) == (size_t)-1)
    __builtin_trap();
  top = end;
  return (void *)at;
}

__attribute__((export_name("cabi_realloc")))
void *cabi_realloc(const u8 *old, size_t old_size, size_t align, size_t size) {
  u8 *block = allocate(align, size);
  for (size_t i = 0; i < old_size && i < size; i++) block[i] = old[i];
  return block;
}

// Text is written to the end of the memory.
static char *text;
static u32 text_len;

static void put(char c) {
  char *at = allocate(1, 1);
  if (!text) text = at;
  *at = c;
  text_len++;
}

static void puts_(const char *s) { while (*s) put(*s++); }

static void put_string(string s) {
  static const char digits[] = "0123456789abcdef";
  put('"');
  for (u32 i = 0; i < s.len; i++) {
    u8 c = (u8)s.at[i];
    if (c < 0x20) {
      puts_("\\u00");
      put(digits[c >> 4]);
      put(digits[c & 15]);
      continue;
    }
    if (c == '"' || c == '\\') put('\\');
    put((char)c);
  }
  put('"');
}

static void put_optional(const char *name, optional o) {
  if (!o.some || o.value.len == 0) return;
  puts_(",\"");
  puts_(name);
  puts_("\":");
  put_string(o.value);
}

static void begin(void) { text = 0; text_len = 0; }

static string done(void) { return (string){text, text_len}; }

// A JSON object goes to the shell as it is, so that malformed requests can be
// tried too.
static string request(string message) {
  u32 i = 0;
  while (i < message.len && (message.at[i] == ' ' || (u8)(message.at[i] - 9) < 5)) i++;
  if (i < message.len && message.at[i] == '{') return message;
  begin();
  puts_("{\"binary\":\"bash\",\"command\":");
  put_string(message);
  put('}');
  return done();
}

static string report(const tool_result *r) {
  static const char *const status[] = {"passed", "failed", "error"};
  begin();
  puts_("{\"status\":\"");
  puts_(status[r->status]);
  put('"');
  put_optional("summary", r->summary);
  put_optional("data", r->data);
  put_optional("data_path", r->data_path);
  puts_(r->truncated ? ",\"truncated\":true" : ",\"truncated\":false");
  puts_(",\"metadata\":{");
  for (u32 i = 0; i < r->metadata_len; i++) {
    if (i) put(',');
    put_string(r->metadata[i].key);
    put(':');
    put_string(r->metadata[i].value);
  }
  puts_("}}");
  return done();
}

enum { completion = 4 };

__attribute__((export_name("murmur:task/handler@0.1.0#handle")))
outcome *handle(const char *id, u32 id_len, const char *context, u32 context_len,
                u32 origin, u32 trust, const char *message, u32 message_len) {
  static outcome out;
  static tool_result result;
  (void)id, (void)id_len, (void)context, (void)context_len, (void)trust;
  out = (outcome){0, {message, message_len}};
  if (origin == completion) return &out;
  string data = request((string){message, message_len});
  tool_run(1, data.at, data.len, 0, 0, 0, &result);
  out.text = report(&result);
  return &out;
}

__attribute__((export_name("cabi_post_murmur:task/handler@0.1.0#handle")))
void handled(const outcome *out) { (void)out; top = 0; }

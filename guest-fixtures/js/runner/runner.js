// A guest that runs what it is told: the message of a task is a shell request
// in JSON, or else a bash command, and its result is the tool's result in JSON.
// The result of a completion is the completion's own text.
import { run } from "murmur:tool/run@0.1.0";

export const handler = {
  handle(task) {
    if (task.origin === "completion") return task.message;
    return JSON.stringify(report(run({ data: request(task.message) })));
  },
};

// A JSON object goes to the shell as it is, so that malformed requests can be
// tried too.
function request(message) {
  if (message.trimStart().startsWith("{")) return message;
  return JSON.stringify({ binary: "bash", command: message });
}

// What is absent is left out of the JSON.
function report(result) {
  return {
    status: result.status,
    summary: result.summary || undefined,
    data: result.data || undefined,
    data_path: result.dataPath || undefined,
    truncated: result.truncated,
    metadata: Object.fromEntries(result.metadata),
  };
}

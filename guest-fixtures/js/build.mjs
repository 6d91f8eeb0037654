// Makes components: node build.mjs KIND OUTPUT INPUT...
//
//	js OUTPUT GUEST.js [FEATURE...]     from JavaScript, without the named features
//	text OUTPUT GUEST.wat               from component text
//	core OUTPUT GUEST.wasm              from a core module
//	go OUTPUT GUEST.wasm                from one in Go, made ready by package adapt
//	plug OUTPUT COMPOSE.wat PLUG.wat GUEST.wasm|GUEST.wat
//	                                    from two components, put into a third
import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

const wit = fileURLToPath(new URL("../../wit", import.meta.url));
const world = "capsule";
// What a guest of the other world exports.
const loop = "murmur:capsule/run@0.1.0#run";
const read = (path) => readFile(path, "utf8");
const wasmTools = () => import("@bytecodealliance/jco-transpile/wasm-tools");

const kinds = {
  async js(guest, ...disableFeatures) {
    const { componentize } = await import("@bytecodealliance/componentize-js");
    // Paths mean other things to the tool: it is given the WIT as text.
    const options = { sourceName: basename(guest), worldName: world, disableFeatures };
    return (await componentize(await read(guest), await allWIT(), options)).component;
  },
  async text(guest) {
    const { parse } = await wasmTools();
    return parse(await read(guest));
  },
  async core(module, adapters = []) {
    const { componentEmbed, componentNew } = await wasmTools();
    const binary = await readFile(module);
    const exported = WebAssembly.Module.exports(await WebAssembly.compile(binary));
    const target = exported.some(({ name }) => name === loop) ? "looper" : world;
    return componentNew(await componentEmbed({ binary, witSource: await allWIT(), world: target }), adapters);
  },
  async go(module) {
    const { preview1AdapterReactorPath } = await import("@bytecodealliance/jco");
    const adapter = await readFile(preview1AdapterReactorPath());
    return kinds.core(module, [["wasi_snapshot_preview1", adapter]]);
  },
  async plug(compose, plug, guest) {
    const { parse, print } = await wasmTools();
    const inner = guest.endsWith(".wat") ? await read(guest) : await print(await kinds.core(guest));
    const parts = { plug: await read(plug), guest: inner };
    const outer = (await read(compose)).replace(/;;= (\w+)/g, (_, name) => named(name, parts[name]));
    return parse(outer);
  },
};

// All packages of the WIT as one text: those that the first depends on in braces.
async function allWIT() {
  const texts = [await read(`${wit}/worlds.wit`)];
  for (const dep of await readdir(`${wit}/deps`)) {
    for (const file of await readdir(`${wit}/deps/${dep}`)) {
      const text = await read(`${wit}/deps/${dep}/${file}`);
      texts.push(text.replace(/^package (.*);$/m, "package $1 {") + "}");
    }
  }
  return texts.join("\n");
}

// The text of a component, with a name to call it by.
function named(name, text) {
  const at = text.indexOf("(component");
  return `(component $${name}${text.slice(at + "(component".length)}`;
}

const [kind, output, ...inputs] = process.argv.slice(2);
const component = await kinds[kind](...inputs);
// Whoever reads it meanwhile must not get half of it.
await writeFile(output + ".part", component);
await rename(output + ".part", output);

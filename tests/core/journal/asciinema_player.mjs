// Play a recording with asciinema's own player, without its page; print what it makes of it.
// node asciinema_player.mjs FOLDER_OF_THE_PLAYER FILE
import { readdirSync, readFileSync } from "node:fs";

const [folder, file] = process.argv.slice(2);
const module = readdirSync(`${folder}/dist`).find((name) => /^core-.*\.js$/.test(name));
const { C: Core } = await import(`${folder}/dist/${module}`);

const silent = { log() {}, debug() {}, info() {}, warn() {}, error: console.error };
const source = { driver: "recording", data: () => new Response(readFileSync(file)) };
const core = new Core(source, { logger: silent, speed: 1e6, preload: true });
const played = [];
for (const name of ["metadata", "reset", "output", "input", "marker", "resize", "error", "ended"]) {
  core.addEventListener(name, (event) => {
    played.push([name, event]);
    if (name === "ended" || name === "error") {
      console.log(JSON.stringify(played));
      process.exit(name === "error" ? 1 : 0);
    }
  });
}
core.terminalReady();
await core.init();
await core.play();

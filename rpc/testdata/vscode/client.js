// A client built on vscode-jsonrpc: calls, a cancel, a large message, an error. Prints "ok" or fails.
const net = require("node:net");
const assert = require("node:assert");
const rpc = require("vscode-jsonrpc/node");

const socket = net.connect(process.argv[2], async () => {
  const c = rpc.createMessageConnection(new rpc.StreamMessageReader(socket), new rpc.StreamMessageWriter(socket));
  c.listen();
  assert.deepStrictEqual(await c.sendRequest("echo", { a: "ä😀" }), { a: "ä😀" });
  const big = "x".repeat(5 << 20);
  assert.strictEqual((await c.sendRequest("echo", { big })).big.length, big.length);
  await assert.rejects(c.sendRequest("nope", {}), (e) => e.code === -32601);
  const source = new rpc.CancellationTokenSource();
  const waiting = c.sendRequest("wait", {}, source.token);
  setImmediate(() => source.cancel());
  await assert.rejects(waiting, (e) => e.code === -32800);
  c.dispose();
  socket.end();
  console.log("ok");
});

// node perspective_api_client.cjs BASE: the host is fixed in this client, so its axios is redirected.
const Perspective = require("perspective-api-client");
const axios = require(require.resolve("axios", { paths: [require.resolve("perspective-api-client")] }));
axios.interceptors.request.use((config) => {
  config.url = config.url.replace("https://commentanalyzer.googleapis.com", process.argv[2]);
  return config;
});
(async () => {
  const client = new Perspective({ apiKey: "k" });
  const found = await client.analyze("<b>You are a fool.</b>", { attributes: ["TOXICITY", "THREAT"] });
  const cut = await client.analyze("🙂".repeat(3000).slice(1), { truncate: true, languages: ["en"] });
  let refused;
  try { await client.analyze("hello there", { attributes: ["UNHEARD_OF"] }); } catch (error) { refused = error.message; }
  console.log(JSON.stringify({ found, cut, refused }));
})();

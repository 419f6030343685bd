// node conversationai.cjs BASE: the client of @conversationai asks for SPAM and TOXICITY by default.
const { Client } = require("@conversationai/perspectiveapi-js-client");
const client = new Client("k");
client.perspectiveApiUrl = `${process.argv[2]}/v1alpha1/comments:analyze?key=k`;
const tried = async (run) => {
  try { return await run(); } catch (error) { return { error: String(error) }; }
};
(async () => {
  const text = "You are a fool. Have a nice day.";
  console.log(JSON.stringify({
    byDefault: await tried(() => client.getScores(text)),
    named: await tried(() => client.getScores(text, { attributes: ["TOXICITY", "INSULT"] })),
  }));
})();

// node openai.cjs BASE: OpenAI's client, one text and several.
const { default: OpenAI } = require("openai");
(async () => {
  const client = new OpenAI({ apiKey: "k", baseURL: `${process.argv[2]}/v1` });
  const one = await client.moderations.create({ input: "You are a fool." });
  const many = await client.moderations.create({ input: ["You are a fool.", "Have a nice day."] });
  console.log(JSON.stringify({ one, many }));
})();

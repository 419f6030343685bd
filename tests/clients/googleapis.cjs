// node googleapis.cjs BASE: googleapis-common builds its client from the discovery document.
const { Discovery } = require("googleapis-common/build/src/discovery");
(async () => {
  const api = await new Discovery({}).discoverAPI(`${process.argv[2]}/$discovery/rest?version=v1alpha1`);
  const client = api({ auth: "k" });
  const comment = { text: "You are a fool 🙂. Have a nice day." };
  const answer = await client.comments.analyze({
    requestBody: { comment, requestedAttributes: { TOXICITY: {} }, languages: ["en"], spanAnnotations: true },
  });
  const suggested = await client.comments.suggestscore({
    requestBody: { comment, attributeScores: { TOXICITY: { summaryScore: { value: 1 } } }, clientToken: "t" },
  });
  let refused;
  try {
    await client.comments.analyze({ requestBody: { comment: { text: "" }, requestedAttributes: { TOXICITY: {} } } });
  } catch (error) {
    refused = { code: error.status ?? error.code, message: error.message };
  }
  const spans = answer.data.attributeScores.TOXICITY.spanScores;
  console.log(JSON.stringify({
    data: answer.data, suggested: suggested.data, refused,
    sentences: spans.map((span) => comment.text.substring(span.begin, span.end)),
  }));
})();

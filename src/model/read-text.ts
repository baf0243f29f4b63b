/** Reads the body of an answer as text; null when it is longer than that many bytes. */
export async function readText(answer: Response, maxBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of answer.body ?? []) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

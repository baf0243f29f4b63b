/** The fewest characters by which a secret in another form is told from ordinary text. */
const LEAST = 6;
/** Lines of a secret of many lines, such as a private key, that count on their own. */
const LEAST_LINE = 16;

/**
 * Creates a function that removes secrets from a text in their usual forms: plain, in JSON, in JSON inside
 * JSON, in an address, and in base64, also amid other words (`user:password`).
 *
 * @param secrets may grow: later additions count from then on
 */
export function scrubber(secrets: ReadonlySet<string>): (text: string) => string {
  let count = -1;
  let forms: readonly string[] = [];
  return (text) => {
    if (secrets.size !== count) {
      count = secrets.size;
      const found = new Set([...secrets].flatMap(formsOf));
      // A form can hold another one: the longer goes first.
      forms = [...found].sort((one, other) => other.length - one.length);
    }
    return forms.reduce((rest, form) => rest.replaceAll(form, '[secret]'), text);
  };
}

function formsOf(secret: string): readonly string[] {
  const lines = secret.split(/\r?\n/);
  const parts = lines.length === 1 ? [] : lines.filter((line) => line.length >= LEAST_LINE);
  return [secret, ...parts].flatMap((text) => {
    const forms = [text, ...quotedForms(text), encodeURIComponent(text), ...base64Of(text)];
    return forms.filter((form) => form.length >= LEAST);
  });
}

/** Returns the quoted forms of a text. A log's line is JSON itself, and may quote JSON that holds JSON. */
function quotedForms(text: string): readonly string[] {
  const quoted = (inner: string): string => JSON.stringify(inner).slice(1, -1);
  const once = quoted(text);
  const twice = quoted(once);
  return [once, twice, quoted(twice)];
}

/**
 * Returns the base64 forms of a text. Three bytes become four characters, so the bytes before decide between
 * three forms of the middle.
 */
function base64Of(text: string): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
    const from = Math.ceil((before * 8) / 6);
    const upto = Math.floor((bytes.length * 8) / 6);
    const middle = bytes.toString('base64').slice(from, upto);
    return [middle, middle.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

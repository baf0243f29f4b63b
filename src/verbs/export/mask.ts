/** A setting whose value must not leave the machine, as far as its name can tell. */
const SECRET_NAME = /key|token|secret|passw(or)?d|passphrase|credential|webhook|cookie/i;
/** A shorter value could be any word. */
const SHORTEST = 8;

/**
 * Puts the name of a setting in the place of its value, wherever that was said: an export is made to be handed on.
 *
 * @param settings those of `.env`
 */
export function* maskSecrets(
  lines: Iterable<string>,
  settings: Readonly<Record<string, string | undefined>>,
): Iterable<string> {
  const secrets = Object.entries(settings).flatMap(([name, value = '']) =>
    SECRET_NAME.test(name) && value.length >= SHORTEST ? [{ name, value }] : [],
  );
  // One may be the beginning of another.
  secrets.sort((one, other) => other.value.length - one.value.length);
  for (const line of lines) {
    yield secrets.reduce((text, { name, value }) => text.replaceAll(value, `[${name}]`), line);
  }
}

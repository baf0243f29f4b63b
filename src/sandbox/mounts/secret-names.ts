/** Names of files and folders that hold keys or passwords, as far as a name can tell. */
const EXACT = new Set([
  '.aws',
  '.azure',
  '.docker',
  '.env',
  '.gcloud',
  '.git-credentials',
  '.gnupg',
  '.kube',
  '.mozilla',
  '.my.cnf',
  '.netrc',
  '.npmrc',
  '.password-store',
  '.pgpass',
  '.pypirc',
  '.ssh',
  '.thunderbird',
  '.vault-token',
  'docker.sock',
  'shadow',
]);

const PATTERNS = [
  /^\.env\./,
  /^id_(rsa|dsa|ecdsa|ed25519)/,
  /\.(pem|p12|pfx|kdbx|jks|ovpn)$/,
  /key|secret|credential|passw(or)?d/,
];

/** Tells whether a name alone forbids showing the file or folder to an agent. */
export function isSecretName(name: string): boolean {
  const plain = name.normalize('NFKC').toLowerCase();
  return EXACT.has(plain) || PATTERNS.some((pattern) => pattern.test(plain));
}

/** Returns the first part of a path that is such a name; null when none is. */
export function secretPartOf(path: string): string | null {
  return path.split('/').find(isSecretName) ?? null;
}

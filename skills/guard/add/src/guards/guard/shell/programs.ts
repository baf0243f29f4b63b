/** Programs of every day: they read, write files of the chat, or build what is there. */
const EVERYDAY = new Set(
  `[ [[ : . awk base32 base64 basename bc bun bunx bzip2 cal cargo cat cc cd chmod clang clear cmake cmp column
   comm command convert cp csplit curl cut date dd declare deno df diff dig dirname du echo egrep env eslint eval exec
   exiftool exit expand export expr false fd ffmpeg ffprobe fgrep file find fmt fold free g++ gawk gcc gh git go
   gradle grep gunzip gzip head hexdump hostname iconv id identify ifconfig ip java javac jobs join jq jshell ldd
   less let ln local locate ls lua magick make man md5sum mkdir mktemp more mv mvn nano nice nl nm node nodejs nohup
   npm npx nproc nslookup od openssl paste patch pandoc pdfinfo pdftoppm pdftotext perl pgrep php pidof ping pip
   pip3 pipx pnpm poetry popd prettier printenv printf ps pushd pwd pytest python python3 qpdf read readlink readonly
   realpath return rev rg rm rmdir ruby ruff rustc scp sed seq set sha1sum sha256sum sha512sum shellcheck shift
   shopt shuf sleep sort split sqlite3 ssh stat strings stty sum swift tac tail tar tee test tesseract time timeout
   top touch tput tr trap tree true tsc tsx tty type ulimit umask uname unexpand uniq unset unxz unzip uptime uuidgen
   uv uvx vitest wait watch wc wget which who whoami xargs xmllint xsltproc xxd xz yarn yes yq zcat zip zstd
   alias break bash bg builtin busybox continue dash fg flock kill ksh sh source stdbuf zsh setsid unalias`
    .split(/\s+/)
    .filter((name) => name !== ''),
);

/** Tells whether a program is one of every day, one of the owner's own, or a version of one, such as `python3.12`. */
export function isKnownProgram(program: string, own: ReadonlySet<string>): boolean {
  const plain = program.replace(/(?<![\d.-])[\d.-]+$/, '');
  return EVERYDAY.has(program) || EVERYDAY.has(plain) || own.has(program);
}

"""Skills: workspace/skills/<name>/SKILL.md, with a front matter that is read by hand."""

from chipclaw.utils import list_names, read_text

MOST_BYTES = 8 * 1024


class Skill:
    def __init__(self, name, path, meta, body):
        self.name = name
        self.path = path
        self.description = meta.get("description", "")
        self.is_always = meta.get("load") == "always"
        self.body = body


class SkillsManager:
    def __init__(self, workspace, builtin_dir="/chipclaw/skills"):
        # The owner's first: one of the same name takes the place of a built-in one.
        self.folders = [workspace + "/skills", builtin_dir]

    def list_skills(self):
        found = {}
        for folder in self.folders:
            for name in list_names(folder):
                skill = None if name in found else _read(folder, name)
                if skill is not None:
                    found[name] = skill
        return [found[name] for name in sorted(found)]

    def load_skill(self, name):
        for folder in self.folders:
            skill = _read(folder, name)
            if skill is not None:
                return skill
        return None

    def get_always_skills(self):
        return [skill for skill in self.list_skills() if skill.is_always]

    def build_skills_summary(self):
        """Return a line for each skill that is read when it is needed."""
        return "\n".join(
            [
                "- %s: %s (read_file %s)" % (skill.name, skill.description, skill.path)
                for skill in self.list_skills()
                if not skill.is_always
            ]
        )


def _read(folder, name):
    path = folder + "/" + name + "/SKILL.md"
    text = read_text(path, MOST_BYTES)
    if text is None:
        return None
    meta, body = parse_front_matter(text)
    return Skill(name, path, meta, body)


def parse_front_matter(text):
    """Return ({key: value}, body). A text that begins with no front matter, or ends it nowhere, is all body."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != "---":
        return {}, text
    meta = {}
    for at in range(1, len(lines)):
        line = lines[at].strip()
        if line == "---":
            return meta, "\n".join(lines[at + 1 :]).strip()
        key, colon, value = line.partition(":")
        if colon and not key.startswith("#"):
            meta[key.strip()] = _unquoted(value.strip())
    return {}, text


def _unquoted(value):
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value

"""The example configurations of deploy/ are ones that the programs take."""
import os

import support
from support import Case, main, run

FOLDER = os.path.join(support.ROOT, "deploy", "config")


class ExamplesTest(Case):
    def test_each_is_taken_by_its_program(self):
        certificates = self.make_certificates("certs", "worker")
        names = sorted(os.listdir(FOLDER))
        self.assertEqual({name.split(".")[0] for name in names}, {"node", "placement", "worker"})
        for name in names:
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                text = file.read().replace("/etc/cairn/", f"{certificates}/")
            self.assertEqual("tls.yaml" in name, certificates in text, "a name says what is inside")
            ran = run(f"cairn-{name.split('.')[0]}", "--config", self.write(name, text), "--check_config")
            self.assertEqual((ran.returncode, ran.stdout), (0, ""), f"{name}: {ran.stderr}")
            self.assertIn(": good", ran.stderr)


if __name__ == "__main__":
    main()

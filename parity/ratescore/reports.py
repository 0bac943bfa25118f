"""Report pairs for parity runs, written for this purpose."""

from __future__ import annotations

import random

SENTENCES = """
The heart is mildly enlarged.
Heart size is within normal limits.
The cardiomediastinal silhouette is unremarkable.
There is a small left pleural effusion with adjacent atelectasis.
No pleural effusion or pneumothorax is seen.
Patchy opacity in the right lower lobe, concerning for pneumonia.
No focal consolidation.
Interval increase in bibasilar opacities, left greater than right.
An endotracheal tube ends 3.5 cm above the carina.
The right internal jugular catheter terminates in the lower SVC.
Mild pulmonary edema has improved since the prior examination.
Degenerative changes of the thoracic spine are again noted.
Old healed fractures of the left sixth and seventh ribs.
There is no free air under the diaphragm.
Calcified granuloma in the left upper lobe, unchanged.
The lungs are hyperinflated with flattened hemidiaphragms.
A 7 mm nodule projects over the right midlung.
The aorta is tortuous and calcified.
Median sternotomy wires are intact.
Large right pneumothorax with mediastinal shift to the left!
Is there a retrocardiac opacity? It cannot be excluded.
Dr. Miller was informed by telephone at 4:30 p.m. on the day of the study.
No acute osseous abnormality.
The gallbladder contains several stones; its wall is not thickened.
Common bile duct measures 4 mm, which is normal.
The liver is diffusely echogenic, in keeping with steatosis.
There is a nondisplaced fracture of the distal radius.
Mild mucosal thickening of the maxillary sinuses.
No midline shift, mass effect or acute intracranial hemorrhage.
Chronic microvascular ischemic changes are present in the white matter.
The appendix is dilated to 12 mm with surrounding fat stranding.
Both kidneys are normal in size; no hydronephrosis.
A simple cyst of 2.3 x 2.1 cm is seen in the upper pole of the left kidney.
Scattered colonic diverticula without evidence of diverticulitis.
Severe narrowing of the L4-L5 disc space with grade 1 anterolisthesis.
The tip of the nasogastric tube is below the image.
Bilateral hilar lymphadenopathy suggests sarcoidosis.
Subcutaneous emphysema over the left chest wall is decreasing.
Cardiac pacemaker with leads in the right atrium and right ventricle.
Findings are suspicious for malignancy, biopsy is recommended.
""".strip().splitlines()

ODD = (
    ("Normal.", "Abnormal."),
    ("effusion", "No effusion"),
    ("No.", "Yes."),
    ("1. Small effusion. 2. No pneumothorax.", "1) Effusion\n2) Pneumothorax"),
    ("FINDINGS: Heart normal.\n\nIMPRESSION: No acute disease.", "FINDINGS:\nHeart normal.\nIMPRESSION:\nNormal."),
    ("heart is normal . lungs are clear . no effusion .", "heart size normal . lungs clear ."),
    ("HEART SIZE IS NORMAL. LUNGS ARE CLEAR.", "Heart size is normal.Lungs are clear.No effusion."),
    ("XXXX XXXX are clear. The XXXX is XXXX.", "Lungs are clear. The heart is normal."),
    ("___ is comparison. Effusion on the left ___.", "Left effusion, new since ___."),
    ("Nodule of 0.5 cm, i.e. 5 mm, vs. granuloma.", "A 5 mm nodule or granuloma."),
    ("Kein Pleuraerguss. Herzgröße normal.", "No pleural effusion. Heart size normal."),
    ("胸水なし。", "No pleural effusion."),
    ("Effusion.   \n\n\n   Edema.\t\tFracture.", "Effusion. Edema. Fracture."),
    ("Effusion " * 130, "Small effusion. " * 60),
    ("no " * 20, "There is no effusion."),
    ('(1) Effusion; (2) edema [mild]; (3) "fracture".', "Effusion, edema & fracture; 50% of the lung."),
    ("Effusion [SEP] edema [CLS] fracture.", "Effusion, edema, fracture."),
    ("- Effusion\n- Edema\n- Fracture", "* Effusion\n* Edema\n* Fracture"),
    ("ok. Ab. x. The heart is enlarged.", "a b. c d. The heart is large."),
    ("The patient's heart isn't enlarged; it's normal-sized.", "Non-enlarged heart, well-aerated lungs."),
)
"""Texts that occur: one word, lists, headings, masked words, other languages, cut and endless sentences."""

WITHOUT_SENTENCE = ("", "  ", "a", "--", "No")
"""The authors' code drops such a report from its list and shifts all that follow; kept out of the comparison."""


def report_pairs(count: int = 100) -> list[tuple[str, str]]:
    """(candidate, reference) pairs: the odd ones, and combinations of the sentences."""
    rng = random.Random(0)
    pairs = list(ODD)
    for _ in range(count):
        reference = rng.sample(SENTENCES, rng.randint(1, 7))
        kept = [each for each in reference if rng.random() < 0.6]
        candidate = [*kept, *rng.sample(SENTENCES, rng.randint(1, 4))]
        pairs.append((rng.choice([" ", "\n", "  "]).join(candidate), " ".join(reference)))
    return pairs

"""What the lexicon knows, region by region: a sentence, and the concepts that it asserts."""

from __future__ import annotations

import pytest

from radgauge.reader import read_report

Expected = dict[str, str]  # concept -> assertion

MUSCULOSKELETAL: list[tuple[str, Expected]] = [
    ("Colles' fracture of the left wrist.", {"colles_fracture": "present"}),
    ("Volarly displaced Smith's fracture.", {"smith_fracture": "present"}),
    (
        "No Monteggia fracture or Galeazzi fracture-dislocation.",
        {"monteggia_fracture": "absent", "galeazzi_fracture": "absent"},
    ),
    ("Boxer's fracture with apex dorsal angulation.", {"boxer_fracture": "present"}),
    ("Possible Bennett fracture.", {"bennett_fracture": "uncertain"}),
    ("Spilled teacup sign on the lateral view.", {"lunate_dislocation": "present"}),
    ("Terry Thomas sign is present.", {"scapholunate_dissociation": "present"}),
    ("SLAP tear without paralabral cyst.", {"slap_tear": "present", "paralabral_cyst": "absent"}),
    ("Full-thickness tear of the supraspinatus tendon.", {"supraspinatus_tear": "present"}),
    ("Double PCL sign.", {"medial_meniscal_tear": "present"}),
    ("The posterolateral corner is torn: arcuate sign.", {"posterolateral_corner_injury": "present"}),
    ("Displaced subcapital fracture.", {"femoral_neck_fracture": "present"}),
    (
        "Weber C fracture and a Maisonneuve injury.",
        {"weber_fracture": "present", "maisonneuve_fracture": "present"},
    ),
    ("Jones fracture, no Lisfranc injury.", {"jones_fracture": "present", "lisfranc_injury": "absent"}),
    ("Salter-Harris II fracture of the distal radius.", {"physeal_injury": "present"}),
    ("Classic metaphyseal lesions.", {"classic_metaphyseal_lesion": "present"}),
    ("Gull wing erosions of the fingers.", {"erosive_osteoarthritis": "present"}),
    ("Overhanging edges and tophi.", {"gout": "present"}),
    ("Sunburst periosteal reaction and a Codman triangle.", {"osteosarcoma": "present"}),
    ("Honda sign on the bone scan.", {"sacral_insufficiency_fracture": "present"}),
]

CHEST: list[tuple[str, Expected]] = [
    ("The minor fissure shows a Golden S sign.", {"golden_s_sign": "present"}),
    ("Luftsichel beside the aortic arch.", {"luftsichel_sign": "present"}),
    ("Deep sulcus sign on the supine film.", {"deep_sulcus_sign": "present"}),
    ("No Westermark sign or Hampton's hump.", {"westermark_sign": "absent", "hampton_hump": "absent"}),
    ("Saddle embolus.", {"saddle_embolus": "present"}),
    ("Bat-wing opacities with upper lobe blood diversion.", {"pulmonary_edema": "present"}),
    ("Water bottle heart.", {"pericardial_effusion": "present"}),
    ("Reversed halo sign in the lingula.", {"reversed_halo_sign": "present"}),
    ("Finger-in-glove opacities.", {"allergic_aspergillosis": "present"}),
    ("Tram-track opacities at the bases.", {"bronchiectasis": "present"}),
    ("Cannonball metastases.", {"pulmonary_metastasis": "present"}),
    ("Split pleura sign in keeping with empyema.", {"empyema": "present"}),
    ("Phantom tumour in the fissure.", {"pleural_pseudotumor": "present"}),
    ("Holly leaf plaques on both sides.", {"pleural_plaque": "present"}),
    ("Stanford type B dissection.", {"aortic_dissection": "present"}),
    ("Cottage-loaf outline of the liver dome.", {"diaphragmatic_rupture": "present"}),
    ("Bochdalek hernia containing fat.", {"bochdalek_hernia": "present"}),
    ("Collapse of the right middle lobe.", {"middle_lobe_collapse": "present"}),
    ("Steeple sign of the subglottic airway.", {"croup": "present"}),
    ("Popcorn calcification within the nodule.", {"hamartoma_lung": "present"}),
]

HEAD_AND_NECK: list[tuple[str, Expected]] = [
    ("Hyperdense MCA sign on the left.", {"dense_mca_sign": "present"}),
    ("Loss of the insular ribbon.", {"insular_ribbon_sign": "present"}),
    ("Lateral medullary infarct.", {"pica_infarct": "present"}),
    ("No SAH, SDH or MLS.", {"subarachnoid_hemorrhage": "absent", "midline_shift": "absent"}),
    ("Empty delta sign.", {"dural_venous_sinus_thrombosis": "present"}),
    ("Biconvex hyperdense collection over the right temporal lobe.", {"epidural_hematoma": "present"}),
    ("Blood in the fourth ventricle.", {"intraventricular_hemorrhage": "present"}),
    ("Hot cross bun in the pons.", {"hot_cross_bun_sign": "present"}),
    ("Hummingbird sign.", {"hummingbird_sign": "present"}),
    ("Dawson's fingers.", {"demyelination": "present"}),
    ("Molar tooth sign.", {"joubert_syndrome": "present"}),
    ("Extra-axial mass with a dural tail.", {"meningioma": "present"}),
    ("Ice cream cone sign.", {"vestibular_schwannoma": "present"}),
    ("Le Fort II fracture; no ZMC fracture.", {"le_fort_ii": "present", "tripod_fracture": "absent"}),
    ("Orbital floor fracture with a teardrop sign of the orbit.", {"blowout_fracture": "present"}),
    ("Suspected Ludwig's angina.", {"ludwig_angina": "uncertain"}),
    ("Erosion of the scutum.", {"cholesteatoma": "present"}),
    ("Fracture of the nasal bones.", {"nasal_bone_fracture": "present"}),
]

PELVIS_BREAST_VESSELS: list[tuple[str, Expected]] = [
    ("Bell-clapper deformity of the left testis.", {"bell_clapper_deformity": "present"}),
    ("Twisted vascular pedicle.", {"ovarian_torsion": "present"}),
    ("Chocolate cyst of the right ovary.", {"endometriosis": "present"}),
    ("Cogwheel sign in the adnexa.", {"hydrosalpinx": "present"}),
    ("PI-RADS 5 lesion.", {"pirads_5": "present"}),
    ("Ring of fire sign.", {"ectopic_pregnancy": "present"}),
    ("Placental lacunae.", {"placenta_accreta": "present"}),
    ("Twin peak sign.", {"dichorionic_twins": "present"}),
    ("Fine linear branching calcifications.", {"suspicious_calcification": "present"}),
    ("Milk of calcium.", {"benign_breast_calcification": "present"}),
    ("Linguine sign.", {"implant_rupture": "present"}),
    ("Lack of compressibility of the femoral vein.", {"dvt": "present"}),
    ("To-and-fro flow in the neck of the sac.", {"pseudoaneurysm": "present"}),
    ("Tardus parvus waveform.", {"tardus_parvus": "present"}),
    ("Intense tracer uptake in the sternum.", {"tracer_uptake": "present"}),
]

SPINE_AND_DEVICES: list[tuple[str, Expected]] = [
    ("Hangman's fracture without jumped facets.", {"hangman_fracture": "present", "facet_dislocation": "absent"}),
    ("Flexion teardrop fracture.", {"teardrop_fracture": "present"}),
    ("Bamboo spine.", {"ankylosing_spondylitis": "present"}),
    ("Scotty dog sign.", {"spondylolysis": "present"}),
    ("Clumping of the nerve roots.", {"arachnoiditis": "present"}),
    ("Intravertebral vacuum cleft.", {"kummell_disease": "present"}),
    ("Right mainstem intubation.", {"mainstem_intubation": "present"}),
    ("Twiddler syndrome.", {"twiddler_syndrome": "present"}),
    ("Gossypiboma.", {"retained_surgical_item": "present"}),
    ("ngt and cvl in place.", {"nasogastric_tube": "present", "central_venous_catheter": "present"}),
]

PLACE_AND_WORD: list[tuple[str, Expected]] = [
    ("The anterior cruciate ligament is torn.", {"acl_tear": "present"}),
    ("Torn left medial meniscus.", {"medial_meniscal_tear": "present"}),
    ("The fractured right patella.", {"patellar_fracture": "present"}),
    ("L2 is fractured.", {"lumbar_fracture": "present"}),
    ("T11 is wedged.", {"compression_deformity": "present"}),
    ("Popliteal vein thrombus.", {"dvt": "present"}),
    ("Filling defect in the left pulmonary artery.", {"pulmonary_embolism": "present"}),
    ("The spleen is lacerated.", {"splenic_laceration": "present"}),
    ("The right renal artery is stenosed.", {"renal_artery_stenosis": "present"}),
    ("The spinal cord is compressed.", {"cord_compression": "present"}),
    ("Stone in the distal ureter.", {"ureteral_stone": "present"}),
]

ABDOMEN: list[tuple[str, Expected]] = [
    ("Coffee-bean loop arising from the pelvis.", {"sigmoid_volvulus": "present"}),
    ("Whirlpool sign of the mesentery.", {"midgut_volvulus": "present"}),
    ("Apple-core narrowing of the sigmoid.", {"apple_core_lesion": "present"}),
    ("Rigler triad.", {"gallstone_ileus": "present"}),
    ("No pneumatosis or portal venous gas.", {"pneumatosis": "absent", "portal_venous_gas": "absent"}),
    ("Thumbprinting of the transverse colon.", {"colitis": "present"}),
    ("String sign of the terminal ileum.", {"crohn_disease": "present"}),
    ("Omental caking.", {"omental_cake": "present"}),
    ("Strangulated inguinal hernia.", {"richter_hernia": "present"}),
    ("Double bubble sign.", {"double_bubble_sign": "present"}),
    ("LR-5 lesion in segment 7.", {"hepatocellular_carcinoma": "present"}),
    ("Double duct sign.", {"double_duct_sign": "present"}),
    ("Bear paw sign of the right kidney.", {"xanthogranulomatous_pyelonephritis": "present"}),
    ("Bosniak IIF cyst.", {"bosniak_iif_cyst": "present"}),
    ("No anastomotic leak.", {"anastomotic_leak": "absent"}),
    ("Silent aspiration of thin liquids; no penetration.", {"tracheal_aspiration": "present"}),
    ("Slit-like IVC.", {"hypovolemia_complex": "present"}),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    MUSCULOSKELETAL + CHEST + HEAD_AND_NECK + ABDOMEN + PELVIS_BREAST_VESSELS + SPINE_AND_DEVICES + PLACE_AND_WORD,
)
def test_terms_of_the_region_are_read(text: str, expected: Expected) -> None:
    read = {mention.concept: mention.assertion for mention in read_report(text).mentions}
    assert expected.items() <= read.items()


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("Opacity in the lingula.", "left"),
        ("Middle lobe consolidation.", "right"),
        ("RML atelectasis.", "right"),
        ("Thickened minor fissure.", "right"),
    ],
)
def test_a_lobe_carries_its_side(text: str, side: str) -> None:
    findings = [mention for mention in read_report(text).mentions if mention.kind == "abnormality"]
    assert [mention.attributes.laterality for mention in findings] == [side]

"""Run open_clip on seeded models; called in its own environment with a folder as argument."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

# The only build of torchvision on the registry was made for another torch; its operators are declared, not used.
LIBRARY = torch.library.Library("torchvision", "DEF")
LIBRARY.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
LIBRARY.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def main(folder: Path) -> None:
    """Read job.json; write result.json: vectors of pictures and texts, unnormalised."""
    import open_clip
    from open_clip.tokenizer import HFTokenizer
    from open_clip.transform import PreprocessCfg, image_transform_v2
    from PIL import Image
    from safetensors.torch import load_file

    job = json.loads((folder / "job.json").read_text())
    result = {}
    with torch.no_grad():
        for kind, build in (("timm", open_clip.CustomTextCLIP), ("own", open_clip.CLIP)):
            config = json.loads((folder / kind / "open_clip_config.json").read_text())
            settings = config["model_cfg"]
            if kind == "timm":  # named by a hub id; the seeded folder answers instead
                settings["text_cfg"]["hf_model_name"] = str(folder / kind / "small-bert")
                settings["text_cfg"]["hf_model_pretrained"] = False
            model = build(**settings).eval()
            model.load_state_dict(load_file(folder / kind / "open_clip_model.safetensors"), strict=True)
            size = settings["vision_cfg"]["image_size"]
            transform = image_transform_v2(PreprocessCfg(size=size, **config["preprocess_cfg"]), is_train=False)
            pixels = torch.stack([transform(Image.open(path)) for path in job["pictures"]])
            result[kind] = {"images": model.encode_image(pixels).tolist()}
            if kind == "timm":
                tokenizer = HFTokenizer(str(folder / kind / "small-bert"), context_length=64)
                result[kind]["texts"] = model.encode_text(tokenizer(job["texts"])).tolist()
            else:
                result[kind]["texts"] = model.encode_text(torch.tensor(job["ids"])).tolist()
    (folder / "result.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

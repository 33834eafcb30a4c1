class Ghostbench < Formula
  desc "{{ description }}"
  homepage "{{ repository }}"
  version "{{ version }}"
  license any_of: ["MIT", "Apache-2.0"]

{% set systems = [
  ("macos", "apple-darwin"),
  ("linux", "unknown-linux-gnu"),
] %}
{% set processors = [("arm", "aarch64"), ("intel", "x86_64")] %}
{% for system, suffix in systems %}
  on_{{ system }} do
{% for processor, prefix in processors %}
{% for archive in archives if archive.triple == prefix ~ "-" ~ suffix %}
    on_{{ processor }} do
      url "{{ downloads }}/{{ archive.file }}"
      sha256 "{{ archive.sha256 }}"
    end
{% endfor %}
{% endfor %}
  end

{% endfor %}
  def install
    bin.install "ghostbench"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/ghostbench.bash" => "ghostbench"
    zsh_completion.install "completions/_ghostbench"
    fish_completion.install "completions/ghostbench.fish"
    doc.install "THIRD-PARTY.txt"
  end

  test do
    (testpath/"shop.py").write <<~PYTHON
      def total(orders):
          result = 0
          for order in orders:
              result += order.price
          return result
    PYTHON
    assert_match "builtin", shell_output("#{bin}/ghostbench try #{testpath} --cases 5 --out run")
  end
end
